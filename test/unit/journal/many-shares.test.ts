import { expect, it } from 'vitest';
import { readCall } from '../../../src/journal/calls/call-state.ts';
import { encodeLine } from '../../../src/journal/lines.ts';

const FILES = 600;

it('reads the call of 600 equal files in less than a second', () => {
  const common = { call: 'c', at: '2026-11-21T12:00:00.000Z' };
  const files = Array.from({ length: FILES }, (_, index) => `/project/${index}.dll`);
  const asking = (path: string) => ({
    holder: { host: 'here', pid: 1, run: 'r' },
    work: { origin: 'https://sign.example', code: '1', algorithm: 'SHA256', digest: '00' },
    facts: {
      ...{ file: path, bytes: 1, certificate: { name: 'Example Ltd', sha256: 'aa' }, client: 'c0ffee' },
      signingOptions: { path, output: path, formatOptions: {} },
    },
  });
  const written = (path: string) => ({ share: path, target: path, moment: { at: common.at, up: 1 } });
  const lines = [
    encodeLine({ step: 'claimed', ...common, ...asking('/project/first.dll') }),
    encodeLine({ step: 'signed', ...common, signature: 'AA==', copy: false }),
    ...files.map((path) => encodeLine({ step: 'shared', ...common, share: path, ...asking(path) })),
    ...files.map((path) => encodeLine({ step: 'written', ...common, ...written(path) })),
  ];
  const bytes = Buffer.from(lines.join(''));
  const began = performance.now();
  const state = readCall(bytes, undefined);
  expect(performance.now() - began).toBeLessThan(1000);
  expect([...state.shares.values()].filter((share) => share.state === 'written')).toHaveLength(FILES);
});
