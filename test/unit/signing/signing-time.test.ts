/** The time that a format signs, in a second run of the same work. */

import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Format } from '../../../src/format/format.ts';
import type { SignableFile } from '../../../src/format/signable-file.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import type { FileToSign } from '../../../src/signing/outcome.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import { forEach } from '../../support/set-up.ts';
import { signingIn } from '../formats/support/change.ts';
import { journalScene } from './journal-scene.ts';
import type { FlatSigning } from './signing-run.ts';

const scene = forEach(journalScene);

/** PE, with the time in what is signed. */
function timeSigningFormat(): { readonly format: Format; readonly signed: string[] } {
  const signed: string[] = [];
  const wrap = (file: SignableFile): SignableFile => ({
    ...file,
    signing: {
      ...signingIn(file),
      async prepare(context, mode) {
        const { units, embed } = await signingIn(file).prepare(context, mode);
        const time = context.time.toISOString();
        const [unit] = units;
        const digest = createHash('sha256').update(unit.digest).update(time).digest();
        const seal: typeof unit.seal = (signature, token) => {
          if (signature.some((byte) => byte !== 0)) signed.push(time);
          return unit.seal(signature, token);
        };
        return { units: [{ ...unit, digest, seal }], embed };
      },
      verify: async () => undefined,
    },
  });
  const open: Format['open'] = async (source, reader) => wrap(await pe.open(source, reader));
  return { format: { ...pe, signing: { ...pe.signing, signsTime: true }, open }, signed };
}

const FIRST = new Date('2026-11-21T10:00:00.000Z');
const LATER = new Date('2026-11-22T12:00:00.000Z');

async function run(file: FileToSign, more: FlatSigning, journal?: Journal) {
  const { files } = await signFiles([file], scene.signing(journal ?? (await scene.open()), more));
  return files[0]?.status;
}

it('is the one chosen by the run that has the signature, and ended before the file was written', async () => {
  const { format, signed } = timeSigningFormat();
  const file = await scene.program('app.exe');
  const authorities = { stamp: () => Promise.reject(new Error('no timestamp')) };
  expect(await run(file, { formats: [format], now: () => FIRST, authorities })).toBe('failed');
  expect([signed, scene.service.asked]).toEqual([[], 1]);
  expect(await run(file, { formats: [format], now: () => LATER })).toBe('signed');
  expect([signed, scene.service.asked]).toEqual([[FIRST.toISOString()], 1]);
});

it('is the one of a run that wrote the file and did not succeed', async () => {
  const { format, signed } = timeSigningFormat();
  const file = await scene.program('app.exe');
  // For example because another file failed: the same command signs both again.
  for (const now of [FIRST, LATER]) expect(await run(file, { formats: [format], now: () => now })).toBe('signed');
  expect([signed, scene.service.asked]).toEqual([[FIRST.toISOString(), FIRST.toISOString()], 1]);
});

it('is a new one after a run that succeeded', async () => {
  const { format, signed } = timeSigningFormat();
  const file = await scene.program('app.exe');
  const journal = await scene.open();
  await run(file, { formats: [format], now: () => FIRST }, journal);
  journal.ended();
  expect(await run(file, { formats: [format], now: () => LATER })).toBe('signed');
  expect([signed, scene.service.asked]).toEqual([[FIRST.toISOString(), LATER.toISOString()], 2]);
});

it('is the one of a request whose outcome is unknown', async () => {
  const { format, signed } = timeSigningFormat();
  const file = await scene.program('app.exe');
  scene.service.before = () => Promise.reject(new TypeError('broken'));
  expect(await run(file, { formats: [format], now: () => FIRST })).toBe('failed');
  scene.service.before = async () => undefined;
  expect(await run(file, { formats: [format], now: () => LATER })).toBe('signed');
  expect(signed).toEqual([FIRST.toISOString()]);
});
