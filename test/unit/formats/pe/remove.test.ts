/** Taking the signatures out of PE files: what is left is what osslsigncode leaves, and what the program was before. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { pe } from '../../../../src/formats/pe/index.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { run } from '../../../system/interop/verifiers.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { removalOf, warningsOf } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { headerOffsets } from './slow-pe.ts';
import { changed, tableOf, withCertificates, withHeader } from './tables.ts';

const signer = await makeThrowawaySigner();
const folder = folderForAll();

const remove = async (bytes: Buffer) => applyPatch(bytes, await removalOf(await openBytes(pe, bytes)));

/** What a program is once it was signed, and is no longer: padded, with a checksum, and without a stale entry. */
function asAfterSigning(original: Buffer, end: number): Buffer {
  const padded = Buffer.concat([original.subarray(0, end), Buffer.alloc(-end & 7)]);
  const { entry } = headerOffsets(padded);
  return changed(padded, (copy) => copy.fill(0, entry, entry + 8));
}

describe('a signed PE file without its signatures', () => {
  it.each(['pe/size-mod-8-is-7.exe', 'pe/stale-entry.exe', 'pe/junk-certificate.exe'])(
    'is %s again, except for padding and checksum',
    async (name) => {
      const bytes = readFixture(name);
      const { result } = await signBytes(pe, bytes, signer);
      const removed = await remove(result);
      expect(removed.equals(asAfterSigning(bytes, programEndOf(bytes)))).toBe(true);
      const file = await openBytes(pe, removed);
      expect([await file.signatures(), await file.examine(), await warningsOf(file)]).toEqual([[], [], []]);
    },
  );

  it('is what osslsigncode leaves', async () => {
    const at = (file: string) => path.join(folder, file);
    const signed = readFixture('golden/appended-twice.exe');
    writeFileSync(at('signed'), signed);
    await run('osslsigncode', ['remove-signature', '-in', at('signed'), '-out', at('theirs')]);
    expect((await remove(signed)).equals(readFileSync(at('theirs')))).toBe(true);
  });

  it('keeps nothing of a table with several entries, hidden bytes, damage or other data', async () => {
    const signed = readFixture('golden/sha256-rsa2048.exe');
    const { bytes, data } = tableOf(signed);
    const plain = await remove(signed);
    for (const table of [
      [bytes, bytes],
      [withHeader(data, { length: 1_000_000 })],
      [withHeader(data, { type: 1 })],
      [Buffer.alloc(16, 7)],
    ]) {
      expect((await remove(withCertificates(signed, ...table))).equals(plain)).toBe(true);
    }
  });
});

/** Where the table of a fixture begins that ends with one. */
function programEndOf(bytes: Buffer): number {
  const { entry } = headerOffsets(bytes);
  const offset = bytes.readUInt32LE(entry);
  const size = bytes.readUInt32LE(entry + 4);
  return offset > 0 && size > 0 && offset + size === bytes.length ? offset : bytes.length;
}
