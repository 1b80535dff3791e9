/** Giving up a call that a process is working on, where the journal decides, and what resuming removes next to files. */

import { describe, expect, it } from 'vitest';
import type { UnfinishedCall, UnfinishedKind } from '../../../src/journal/journal.ts';
import { forgetCalls } from '../../../src/signing/resume/resume.ts';

function callOf(kind: UnfinishedKind): UnfinishedCall {
  return {
    id: 'call-1',
    kind,
    at: '2026-11-21T10:00:00.000Z',
    work: { origin: 'https://a.example', code: '1', algorithm: 'SHA256', digest: '00' },
    metadata: { file: 'app.exe', bytes: 1, certificate: { name: 'A', sha256: 'aa' }, client: 'me' },
    files: [{ file: 'app.exe', written: false, unusable: false, reason: undefined, signingOptions: undefined }],
    record: 'record-1',
    reportDue: undefined,
    reason: undefined,
  };
}

describe('forgetting a call', () => {
  it.each(['under-way', 'unwritten'] as const)(
    'fails while a process is at it (%s when it was listed)',
    async (kind) => {
      const journal = { forget: async () => 'under-way' as const, reported: async () => true };
      const forgotten = forgetCalls(
        ['call-1'],
        [callOf(kind)],
        undefined,
        { journal, service: undefined, extra: {} },
        () => undefined,
      );
      await expect(forgotten).rejects.toMatchObject({ code: 'call-under-way', category: 'local' });
    },
  );

  /** What happens, in its order, when a call with a signature is given up, and the report is sent so. */
  async function giveUp(send: () => Promise<void>) {
    const happened: unknown[] = [];
    const journal = {
      async forget(id: string, report?: unknown) {
        happened.push(['forget', id, report]);
        return 'forgotten' as const;
      },
      async reported(id: string, status: unknown) {
        happened.push(['reported', id, status]);
        return true;
      },
    };
    const service = {
      sign: () => Promise.reject(new Error('no signature is asked for')),
      async report(record: string, status: unknown) {
        happened.push(['report', record, status]);
        await send();
      },
      expect: () => undefined,
      close: async () => undefined,
    };
    const given = { origin: 'https://a.example', client: 'me', leaf: undefined };
    const warnings: string[] = [];
    const parts = { journal, service, extra: {} } as const;
    const forgotten = await forgetCalls(['call-1'], [callOf('unwritten')], given, parts, (text) => warnings.push(text));
    expect(forgotten).toMatchObject([{ status: 'forgotten' }]);
    return { happened, warnings };
  }

  it('is committed before it is reported: until then another process may use the signature', async () => {
    const { happened } = await giveUp(async () => undefined);
    expect(happened).toEqual([
      ['forget', 'call-1', 2],
      ['report', 'record-1', 2],
      ['reported', 'call-1', 2],
    ]);
  });

  it('is done even if the report fails, with a warning', async () => {
    const { happened, warnings } = await giveUp(() => Promise.reject(new Error('no service')));
    expect(happened).toEqual([
      ['forget', 'call-1', 2],
      ['report', 'record-1', 2],
    ]);
    expect(warnings).toEqual([expect.stringContaining('no service')]);
  });
});
