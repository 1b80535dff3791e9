/** The time that a format signs, in a second run of the same work. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Journal } from '../../../src/journal/journal.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import { forEach } from '../../support/set-up.ts';
import { makePdf } from '../formats/pdf/make-pdf.ts';
import { journalScene } from './journal-scene.ts';
import type { FlatSigning } from './signing-run.ts';

const scene = forEach(journalScene);

const FIRST = new Date('2026-11-21T10:00:00.000Z');
const LATER = new Date('2026-11-22T12:00:00.000Z');

/** Signs a document, and returns the day in its signature, or the status. */
async function sign(now: Date, more: FlatSigning = {}, journal?: Journal) {
  const [path, output] = [join(scene.folder, 'a.pdf'), join(scene.folder, 'signed.pdf')];
  await writeFile(path, makePdf());
  const signing = scene.signing(journal ?? (await scene.open()), { now: () => now, existing: 'append', ...more });
  const { files } = await signFiles([{ path, output }], signing);
  if (files[0]?.status !== 'signed') return files[0]?.status;
  return /\/M \(D:(\d{8})/.exec(await readFile(output, 'latin1'))?.[1];
}

it('is the one chosen by the run that has the signature, and ended before the file was written', async () => {
  const authorities = { stamp: () => Promise.reject(new Error('no timestamp')) };
  const timestampAlgorithm = 'SHA256';
  expect(await sign(FIRST, { authorities, timestampAlgorithm })).toBe('failed');
  expect(scene.service.asked).toBe(1);
  expect([await sign(LATER, { timestampAlgorithm }), scene.service.asked]).toEqual(['20261121', 1]);
});

it('is the one of a run that wrote the file and did not succeed', async () => {
  // For example because another file failed: the same command signs both again.
  expect([await sign(FIRST), await sign(LATER), scene.service.asked]).toEqual(['20261121', '20261121', 1]);
});

it('is a new one after a run that succeeded', async () => {
  const journal = await scene.open();
  expect(await sign(FIRST, {}, journal)).toBe('20261121');
  journal.ended();
  expect([await sign(LATER), scene.service.asked]).toEqual(['20261122', 2]);
});

it('is the one of a request whose outcome is unknown', async () => {
  scene.service.before = () => Promise.reject(new TypeError('broken'));
  expect(await sign(FIRST)).toBe('failed');
  scene.service.before = async () => undefined;
  expect(await sign(LATER)).toBe('20261121');
});
