import { expect, it } from 'vitest';
import { metadataFromRecord, readStep } from '../../../src/journal/calls/steps.ts';
import { encodeLine } from '../../../src/journal/lines.ts';

const LINE = (manner: object) =>
  encodeLine({
    step: 'claimed',
    call: 'c',
    at: '2026-01-01T00:00:00Z',
    holder: { host: 'h', pid: 1, run: 'r' },
    work: { origin: 'https://sign.example', code: '1', algorithm: 'SHA256', digest: '00' },
    facts: { file: 'a.exe', bytes: 1, certificate: { name: 'n', sha256: 's' }, client: 'x', manner },
  }).trimEnd();

it.each([
  [
    { description: 'App', url: 'https://example.com', allowUnsignedResult: false },
    { description: 'App', url: 'https://example.com' },
  ],
  [
    { signerName: 'NAME', allowUnsignedResult: true },
    { signerName: 'NAME', allowUnsignedResult: true },
  ],
  [
    { formatOptions: { description: 'App', allowUnsignedResult: true } },
    { description: 'App', allowUnsignedResult: true },
  ],
])('reads the options of formats in an entry with %j', (options, formatOptions) => {
  const step = readStep(LINE({ path: '/a.exe', output: '/a.exe', existing: 'replace', ...options }));
  if (step?.step !== 'claimed') throw new Error('the line was not read');
  const { signingOptions } = metadataFromRecord(step.facts);
  expect(signingOptions).toEqual({ path: '/a.exe', output: '/a.exe', existing: 'replace', formatOptions });
});
