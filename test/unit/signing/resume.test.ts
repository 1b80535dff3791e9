/** Forgetting a call: not while a process is working on it, and committed before the report. */

import { expect, it } from 'vitest';
import type { UnfinishedCall } from '../../../src/journal/journal.ts';
import { forgetCalls } from '../../../src/signing/resume/resume.ts';

const OPTIONS = {
  ...{ path: '/app.exe', output: '/app.exe', formatOptions: {}, time: '2026-11-21T10:00:00.000Z', report: true },
};
const CALL: UnfinishedCall = {
  id: 'call-1',
  kind: 'unwritten',
  at: '2026-11-21T10:00:00.000Z',
  work: { origin: 'https://a.example', code: '1', algorithm: 'SHA256', digest: '00' },
  metadata: { file: 'app.exe', bytes: 1, certificate: { name: 'A', sha256: 'aa' }, client: 'me' },
  files: [{ file: 'app.exe', written: false, unusable: false, reason: undefined, signingOptions: OPTIONS }],
  record: 'record-1',
  reportDue: undefined,
  reason: undefined,
};

it.each(['under-way', 'unwritten'] as const)('fails while a process is at it (%s when listed)', async (kind) => {
  const journal = { forget: async () => 'under-way' as const, reported: async () => true };
  const parts = { journal, service: undefined, extra: {} };
  const forgotten = forgetCalls(['call-1'], [{ ...CALL, kind }], undefined, parts, () => undefined);
  await expect(forgotten).rejects.toMatchObject({ code: 'call-under-way', category: 'local' });
});

it.each([
  ['arrives: until the commit another process may use the signature', undefined],
  ['fails, with a warning', new Error('no service')],
])('is committed before the report, which %s', async (_, failure) => {
  const happened: string[] = [];
  const journal = {
    async forget(id: string, report?: unknown) {
      happened.push(`forget ${id} ${report}`);
      return 'forgotten' as const;
    },
    async reported(id: string, status: unknown) {
      happened.push(`reported ${id} ${status}`);
      return true;
    },
  };
  const service = {
    sign: () => Promise.reject(new Error('no signature is requested')),
    async report(record: string, status: unknown) {
      happened.push(`report ${record} ${status}`);
      if (failure) throw failure;
    },
    expect: () => undefined,
    close: async () => undefined,
  };
  const given = { origin: 'https://a.example', client: 'me', leaf: undefined };
  const warnings: string[] = [];
  const parts = { journal, service, extra: {} } as const;
  const forgotten = await forgetCalls(['call-1'], [CALL], given, parts, (text) => warnings.push(text));
  expect(forgotten).toMatchObject([{ status: 'forgotten' }]);
  const told = failure ? [] : ['reported call-1 2'];
  expect(happened).toEqual(['forget call-1 2', 'report record-1 2', ...told]);
  expect(warnings).toEqual(failure ? [expect.stringContaining('no service')] : []);
});
