/** Timestamps of signatures in files that another signature covers: each file gets its own one again. */

import { afterEach, beforeEach, expect, it } from 'vitest';
import { factsAt, journalSetting, type Setting, SIGNATURE, workOf } from './support/setting.ts';

let setting: Setting;
beforeEach(async () => {
  setting = await journalSetting();
});
afterEach(() => setting[Symbol.asyncDispose]());

const token = (number: number) => Uint8Array.of(0x30, 1, number);
const packageIn = (bundle: string) => factsAt(bundle, { inner: 'app.msix' });

/** What a claim of this file knows, which fails then. `stamps`: what it records. */
async function claimed(bundle: string, ...stamps: readonly Uint8Array[]): Promise<Uint8Array | undefined> {
  const journal = await setting.open();
  const claim = await journal.claim(workOf(1), packageIn(bundle));
  if (claim.known === undefined) {
    await claim.requested();
    await claim.signed({ signature: SIGNATURE, record: 'r1' });
  }
  for (const stamp of stamps) await claim.stamped(stamp);
  await claim.notWritten('the disk is full');
  return claim.known?.token;
}

it('are known to the next run of the same file, the last one first', async () => {
  expect(await claimed('/a', token(1), token(2))).toBeUndefined();
  expect(await claimed('/b', token(3))).toEqual(token(2));
  expect(await claimed('/a')).toEqual(token(2));
  expect(await claimed('/b')).toEqual(token(3));
  expect(await claimed('/c')).toEqual(token(3));
});

it('go with a signature that a run had finished which did not end well', async () => {
  const journal = await setting.open();
  const claim = await journal.claim(workOf(1), packageIn('/a'));
  await claim.requested();
  await claim.signed({ signature: SIGNATURE, record: 'r1' });
  await claim.stamped(token(1));
  await claim.written('/a');
  await claim.reported(1);
  expect(await setting.files()).toContainEqual(expect.stringContaining('finished/'));
  expect(await claimed('/a')).toEqual(token(1));
});
