/** How many requests a run makes when no answer of the service is usable: with the real client, over TLS, with a real journal. */

import { afterEach, describe, expect, it } from 'vitest';
import type { SignFilesResult } from '../../../src/signing/outcome.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import {
  type MisbehavingServiceOptions,
  type ServiceMode,
  startMisbehavingService,
} from '../../support/services/misbehaving-service.ts';
import { openServiceClient } from '../../support/services/service-client.ts';
import { type JournalScene, journalScene } from './journal-scene.ts';
import type { FlatSigning } from './signing-run.ts';

const opened: (() => PromiseLike<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function openScene(): Promise<JournalScene> {
  const scene = await journalScene();
  opened.push(() => scene[Symbol.asyncDispose]());
  return scene;
}

interface Ran {
  readonly requests: number;
  readonly files: SignFilesResult['files'];
}

/** Signs `count` programs with a service in this mode. */
async function runAgainst(
  scene: JournalScene,
  mode: ServiceMode,
  { count = 8, ...options }: MisbehavingServiceOptions & FlatSigning & { readonly count?: number } = {},
): Promise<Ran> {
  const misbehaving = await startMisbehavingService(mode, { key: scene.key, ...options });
  opened.push(() => misbehaving.stop());
  const { service } = await openServiceClient({ ...misbehaving, timeoutMilliseconds: 250 });
  opened.push(() => service.close());
  const programs = await Promise.all(
    Array.from({ length: count }, (_, index) => scene.program(`${mode}-${index}.exe`, `${mode} ${index}`)),
  );
  const journal = await scene.open();
  const { files } = await signFiles(programs, scene.signing(journal, { service, report: false, ...options }));
  return { requests: misbehaving.signRequests(), files };
}

const unknownCalls = async (scene: JournalScene): Promise<number> =>
  (await (await scene.open()).unfinished()).filter(({ kind }) => kind === 'unknown').length;

/** Each with the requests of a run without a proof, and of one with. Which answers are alike: may-have-been-counted.test.ts. */
const USELESS: readonly (readonly [ServiceMode, number, number])[] = [
  ['hangs', 1, 3],
  ['html', 1, 3],
  ['throttled', 5, 5],
  ['server-error', 5, 5],
  ['refused', 1, 5],
];

describe.each(USELESS)('%s for every file', (mode, requests, requestsWhenProven) => {
  it(`makes ${requests} requests as long as no signature has verified, and as many in the next run`, async () => {
    const scene = await openScene();
    for (const run of [1, 2]) {
      const ran = await runAgainst(scene, mode, { concurrency: 4 });
      expect(ran.requests).toBe(requests);
      expect(ran.files.every(({ status }) => status === 'failed')).toBe(true);
      expect(await unknownCalls(scene)).toBe(requests === 1 && mode !== 'refused' ? run : 0);
    }
  });

  it(`makes ${requestsWhenProven} requests when a signature has verified in an earlier run`, async () => {
    const scene = await openScene();
    await runAgainst(scene, 'good', { count: 1 });
    expect((await runAgainst(scene, mode, { concurrency: 1 })).requests).toBe(requestsWhenProven);
    // Also then they go one at a time until one of this run has brought a signature.
    expect((await runAgainst(scene, mode, { concurrency: 8 })).requests).toBe(requestsWhenProven);
  });
});

describe('a rejection', () => {
  it.each([
    ['forbidden', 3],
    ['bad-request', 6],
  ] as const)('%s after two signatures ends a run of six after %i requests', async (mode, expected) => {
    const { requests } = await runAgainst(await openScene(), mode, { count: 6, concurrency: 1, after: 2 });
    expect(requests).toBe(expected);
  });
});

describe('answers that may have been counted', () => {
  it('end a run after three in a row, refusals in between or not, once a signature has verified', async () => {
    const scene = await openScene();
    const { requests, files } = await runAgainst(scene, 'html', { concurrency: 1, after: 2 });
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

  it('do not end a run that has a success after each second one', async () => {
    const scene = await openScene();
    const answers = ['good', 'html', 'html', 'good', 'html', 'html', 'good'];
    const programs = await Promise.all(
      answers.map((answer, index) => scene.program(`${answer}.${index}`, `${answer} ${index}`)),
    );
    const misbehaving = await startMisbehavingService('by-file-name', { key: scene.key });
    opened.push(() => misbehaving.stop());
    const { service } = await openServiceClient(misbehaving);
    opened.push(() => service.close());
    const client = { id: '', platform: '', version: '', revision: '', hostname: '', replaced: {} };
    const signing = scene.signing(await scene.open(), { service, client, concurrency: 1 });
    const { summary } = await signFiles(programs, signing);
    expect(summary).toMatchObject({ signed: 3, failed: 4 });
  });

  it('are not requested again in the same run for another file with the same content', async () => {
    const scene = await openScene();
    const misbehaving = await startMisbehavingService('html', { key: scene.key, after: 1 });
    opened.push(() => misbehaving.stop());
    const { service } = await openServiceClient(misbehaving);
    opened.push(() => service.close());
    const programs = [
      await scene.program('good.exe', 'good'),
      await scene.program('one.exe', 'same'),
      await scene.program('two.exe', 'same'),
    ];
    const signing = scene.signing(await scene.open(), { service, report: false, concurrency: 1 });
    const { files } = await signFiles(programs, signing);
    const codes = files.map((file) => ('error' in file ? file.error.code : file.status));
    expect(codes).toEqual(['signed', 'malformed-answer', 'just-unanswered']);
    expect(misbehaving.signRequests()).toBe(2);
  });
});
