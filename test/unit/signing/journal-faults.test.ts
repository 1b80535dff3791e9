/** A journal that fails while the service's answer is there already: the answer is used, and a warning says so. */

import { expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/journal/driver.ts';
import { journalErrors } from '../../../src/journal/errors.ts';
import type { Claim, Journal } from '../../../src/journal/journal.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import { forEach } from '../../support/set-up.ts';
import { journalScene } from './journal-scene.ts';

const scene = forEach(journalScene);

const full = () => Promise.reject(journalErrors('journal-full', { folder: '/state' }));

/** The journal, some steps of whose claims fail. */
function failing(journal: Journal, stepsOf: (claim: Claim) => Partial<Claim>): Journal {
  return {
    ...journal,
    async claim(asking) {
      const claim = await journal.claim(asking);
      return claim && { ...claim, ...stepsOf(claim) };
    },
  };
}

it('that is full when the signature arrives, and has space later: the file is signed, and reported', async () => {
  const steps = (claim: Claim): Partial<Claim> => ({
    async signed(given) {
      await claim.signed(given);
      return await full();
    },
  });
  const journal = failing(await scene.open(), steps);
  const { files } = await signFiles([await scene.program('a.exe')], scene.signing(journal));
  expect(files).toMatchObject([
    { status: 'signed', reused: false, reported: true, warnings: [expect.stringContaining('no space is left')] },
  ]);
  expect(scene.service.reports).toEqual([['record-1', 1]]);
});

it('that stays full: the file is signed, and reported, and the signature is named', async () => {
  let isFull = false;
  scene.service.before = async () => {
    isFull = true;
  };
  const open = (path: string): Database => {
    const database = openDatabase(path);
    const run: Database['run'] = (...given) => {
      if (isFull) throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
      return database.run(...given);
    };
    return { ...database, run };
  };
  const journal = await scene.open({ openDatabase: open });
  const { files } = await signFiles([await scene.program('a.exe')], scene.signing(journal));
  expect(files).toMatchObject([{ status: 'signed', reported: true, warnings: [expect.stringContaining('no space')] }]);
  expect(journal.warnings).toContainEqual(expect.stringContaining('record-1'));
  expect(scene.service.reports).toEqual([['record-1', 1]]);
});

it('that cannot record the request: nothing is requested', async () => {
  const journal = failing(await scene.open(), () => ({ requested: full }));
  const { files } = await signFiles([await scene.program('a.exe')], scene.signing(journal));
  expect(files).toMatchObject([{ status: 'failed', error: { code: 'journal-full' }, record: null }]);
  expect(scene.service.asked).toBe(0);
});
