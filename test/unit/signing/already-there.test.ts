/** Appending once more with a signature that the file has from a run that was ended before it could note that. */

import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { journalErrors } from '../../../src/journal/errors.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import { type JournalScene, journalScene } from './journal-scene.ts';

let scene: JournalScene;
beforeEach(async () => {
  scene = await journalScene();
});
afterEach(() => scene[Symbol.asyncDispose]());

/** As of a run that ends between the rename and its note. */
async function endingEarly(): Promise<Journal> {
  const journal = await scene.open();
  const never = () => Promise.reject(journalErrors('journal-full', { folder: '/state' }));
  return {
    ...journal,
    claim: async (...asked) => ({ ...(await journal.claim(...asked)), written: never, reported: never }),
  };
}

const APPEND = { existing: 'append' } as const;

it.each(['an unsigned file', 'a signed file'])('%s gets it once', async (kind) => {
  const file = await scene.program('a.exe');
  if (kind === 'a signed file')
    await signFiles([file], scene.signing(await scene.open(), { formatOptions: { description: 'First' } }));
  const asked = scene.service.asked + 1;
  const first = await signFiles([file], scene.signing(await endingEarly(), APPEND));
  expect(first.files).toMatchObject([{ status: 'signed', reused: false }]);
  const written = await readFile(file.path);

  const again = await signFiles([file], scene.signing(await scene.open(), APPEND));
  expect(again.files).toMatchObject([
    {
      status: 'signed',
      reused: true,
      bytes: written.length,
      warnings: [expect.stringContaining('has exactly this signature already')],
    },
  ]);
  expect(await readFile(file.path)).toEqual(written);
  expect(scene.service.asked).toBe(asked);
});

it('a result elsewhere is made again', async () => {
  const { path } = await scene.program('a.exe');
  const files = [{ path, output: `${path}.signed` }];
  await signFiles(files, scene.signing(await endingEarly(), APPEND));
  const written = await readFile(`${path}.signed`);
  const again = await signFiles(files, scene.signing(await scene.open(), APPEND));
  expect(again.files).toMatchObject([{ status: 'signed', reused: true, warnings: [] }]);
  expect(await readFile(`${path}.signed`)).toEqual(written);
});
