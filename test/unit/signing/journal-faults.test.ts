/** A journal that fails while the service's answer is there already: the answer is used, and a warning says so. */

import { afterEach, beforeEach, expect, it } from 'vitest';
import { journalErrors } from '../../../src/journal/errors.ts';
import type { Claim, Journal } from '../../../src/journal/journal.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import { type JournalScene, journalScene } from './journal-scene.ts';

let scene: JournalScene;
beforeEach(async () => {
  scene = await journalScene();
});
afterEach(() => scene[Symbol.asyncDispose]());

const full = () => Promise.reject(journalErrors('journal-full', { folder: '/state' }));

/** The journal, some steps of whose claims fail. */
function failing(journal: Journal, stepsOf: (claim: Claim) => Partial<Claim>): Journal {
  return {
    ...journal,
    async claim(work, facts, options) {
      const claim = await journal.claim(work, facts, options);
      return { ...claim, ...stepsOf(claim) };
    },
  };
}

it('that has no room when the signature comes, and has some later: the file is signed, and reported', async () => {
  const steps = (claim: Claim): Partial<Claim> => ({
    async signed(given) {
      await claim.signed(given);
      await full();
    },
  });
  const journal = failing(await scene.open(), steps);
  const { files } = await signFiles([await scene.program('a.exe')], scene.signing(journal));
  expect(files).toMatchObject([
    { status: 'signed', reused: false, reported: true, warnings: [expect.stringContaining('no space is left')] },
  ]);
  expect(scene.service.reports).toEqual([['record-1', 1]]);
});

it('that can note nothing any more: the file is signed, and reported', async () => {
  const journal = failing(await scene.open(), () => ({ signed: full, written: full, reported: full }));
  const { files } = await signFiles([await scene.program('a.exe')], scene.signing(journal));
  expect(files).toMatchObject([{ status: 'signed', reported: true }]);
  expect(files[0]?.warnings).toHaveLength(2);
});

it('that cannot note the request: nothing is asked', async () => {
  const journal = failing(await scene.open(), () => ({ requested: full }));
  const { files } = await signFiles([await scene.program('a.exe')], scene.signing(journal));
  expect(files).toMatchObject([{ status: 'failed', error: { code: 'journal-full' }, record: null }]);
  expect(scene.service.asked).toBe(0);
});
