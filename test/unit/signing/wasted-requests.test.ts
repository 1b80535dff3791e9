/** The number of requests of a run if no response of the service is usable, with the real client and a real journal. */

import { describe, expect, it } from 'vitest';
import { signFiles } from '../../../src/signing/sign-files.ts';
import type { MisbehavingServiceOptions, ServiceMode } from '../../support/services/misbehaving-service.ts';
import { forEach } from '../../support/set-up.ts';
import { openMisbehaving } from '../service/misbehaving-client.ts';
import { journalScene } from './journal-scene.ts';
import type { FlatSigning } from './signing-run.ts';

const scene = forEach(journalScene);

async function runAgainst(
  mode: ServiceMode,
  { count = 6, ...options }: MisbehavingServiceOptions & FlatSigning & { readonly count?: number } = {},
) {
  const given = { key: scene.key, ...options };
  const limits = mode === 'hangs' ? { timeoutMilliseconds: 500 } : {};
  const { service, misbehaving } = await openMisbehaving(mode, given, limits);
  const programs = await Promise.all(
    Array.from({ length: count }, (_, index) => scene.program(`${mode}-${index}.exe`, `${mode} ${index}`)),
  );
  const journal = await scene.open();
  const { files } = await signFiles(programs, scene.signing(journal, { service, report: false, ...options }));
  return { requests: misbehaving.signRequests(), files };
}

const unknownCalls = async (): Promise<number> =>
  (await (await scene.open()).unfinished()).filter(({ kind }) => kind === 'unknown').length;

/** Requests of a run without a proof, and of one with. */
const USELESS: readonly (readonly [ServiceMode, number, number])[] = [
  ['hangs', 1, 3],
  ['throttled', 5, 5],
  ['refused', 1, 5],
];

describe.each(USELESS)('%s for every file', (mode, requests, requestsWhenProven) => {
  it(`makes ${requests} requests as long as no signature has verified, and as many in the next run`, async () => {
    for (const run of [1, 2]) {
      const ran = await runAgainst(mode, { concurrency: 4 });
      expect(ran.requests).toBe(requests);
      expect(ran.files.every(({ status }) => status === 'failed')).toBe(true);
      expect(await unknownCalls()).toBe(requests === 1 && mode !== 'refused' ? run : 0);
    }
  });

  it(`makes ${requestsWhenProven} requests when a signature has verified in an earlier run`, async () => {
    await runAgainst('good', { count: 1 });
    expect((await runAgainst(mode, { concurrency: 1 })).requests).toBe(requestsWhenProven);
    expect((await runAgainst(mode, { concurrency: 6 })).requests).toBe(requestsWhenProven);
  });
});

it('answers that may have been counted end a run after three in a row, refusals in between or not, once a signature has verified', async () => {
  const { requests, files } = await runAgainst('html', { concurrency: 1, after: 2 });
  expect(requests).toBe(5);
  expect(files.map((file) => ('error' in file ? file.error.code : file.status)).slice(0, 6)).toEqual([
    'signed',
    'signed',
    'malformed-answer',
    'malformed-answer',
    'malformed-answer',
    'not-attempted',
  ]);
});
