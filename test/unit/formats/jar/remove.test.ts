/** Holds taking signatures out of a JAR: what is left is what was there before. */

import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { lossesOf } from '../../../system/interop/compare-archives.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { removalOf } from '../support/change.ts';
import { fixturesIn, readFixture } from '../support/fixtures.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { contentsOf, repack, unzip, zip } from './simple-zip.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';

const signer = await makeThrowawaySigner();

async function removed(bytes: Buffer): Promise<Buffer> {
  return applyPatch(bytes, await removalOf(await openBytes(jar, bytes)));
}

async function signedAndRemoved(bytes: Buffer): Promise<Buffer> {
  return await removed((await signBytes(jar, bytes, signer)).result);
}

/** What signing an archive with this manifest, and taking the signature out, makes of it. */
async function manifestAfter(manifest: string): Promise<string> {
  const bytes = zip([
    { name: MANIFEST, contents: manifest },
    { name: 'a', contents: 'a' },
    { name: 'b', contents: 'b' },
  ]);
  return contentsOf(await signedAndRemoved(bytes), MANIFEST).toString();
}

const names = (bytes: Buffer) => unzip(bytes).map(({ name }) => name);
const REWRITTEN = fixturesIn('jar').filter(({ name }) => /manifest-(lower|old|wrap|last)|zip64-sizes|web/.test(name));

describe('signed and unsigned again', () => {
  it.each(REWRITTEN)('$name has lost nothing', async ({ name, bytes }) => {
    const lost = lossesOf(bytes, await signedAndRemoved(bytes));
    // Its one section held nothing but a digest, as those do that signing adds.
    const detail = 'Name: hello/Hello.class: Name: hello/Hello.class';
    expect(lost).toEqual(name === 'jar/manifest-old-digest.jar' ? [{ what: 'manifest', detail }] : []);
  });

  it('keeps in its first entry the field by which it is distinguished from other archives', async () => {
    const bytes = await signedAndRemoved(readFixture('jar/cafe.jar'));
    const nameEnd = 30 + bytes.readUInt16LE(26);
    expect(bytes.toString('latin1', 30, nameEnd)).toBe(MANIFEST);
    expect(bytes.toString('hex', nameEnd, nameEnd + bytes.readUInt16LE(28))).toBe('feca0000');
  });

  it('an archive without a manifest is byte for byte what it was', async () => {
    const plain = readFixture('jar/no-manifest.jar');
    const stored = zip(
      [
        { name: 'a', contents: 'abc', isStored: true },
        { name: 'b', contents: 'b' },
      ],
      '#!/bin/sh\n',
    );
    const executable = zip([{ name: 'a', contents: 'a', extra: Buffer.from('feca0000', 'hex') }]);
    for (const bytes of [plain, stored, executable]) expect(await signedAndRemoved(bytes)).toEqual(bytes);
  });
});

describe('in the manifest', () => {
  it.each([
    ['other sections stay', 'Manifest-Version: 1.0\r\nX: 1\r\n\r\nName: p/\r\nSealed: true\r\n\r\n'],
    ['other attributes of a section stay', 'Manifest-Version: 1.0\r\n\r\nName: a\r\nX: 1\r\n\r\n'],
    ['line feeds stay', 'Manifest-Version: 1.0\nX: 1\n\nName: b\nX: 1\n\n'],
    ['empty lines stay', 'Manifest-Version: 1.0\r\n\r\n\r\nName: a\r\nX: 1\r\n\r\n\r\n\r\n'],
    ['digests by unknown algorithms stay', 'Manifest-Version: 1.0\r\n\r\nName: a\r\nFoo-Digest: x\r\n\r\n'],
    ['wrapped names stay', `Manifest-Version: 1.0\r\n\r\nName: ${'n'.repeat(60)}\r\n nnn\r\nX: 1\r\n\r\n`],
    ['a section with nothing but a name stays, where it is of no file', 'X: 1\r\n\r\nName: c\r\n\r\n'],
  ])('%s', async (_, manifest) => {
    expect(await manifestAfter(manifest)).toBe(manifest);
  });

  it('existing digests are removed, for every algorithm that signers have used', async () => {
    const digests = ['MD2', 'MD5', 'SHA', 'SHA1', 'sha-512'].map((name) => `${name}-Digest: AAAA\r\n`).join('');
    expect(
      await manifestAfter(`X: 1\r\n\r\nName: a\r\n${digests}Y: 2\r\n\r\nName: c\r\nSHA-256-Digest: AA\r\n A=\r\n\r\n`),
    ).toBe('X: 1\r\n\r\nName: a\r\nY: 2\r\n\r\n');
  });

  it('nothing is removed, and its record stays, if it has no digests', async () => {
    const bytes = zip([
      { name: 'a', contents: 'a' },
      { name: MANIFEST, contents: 'X: 1', extra: Buffer.from('efbe0000', 'hex') },
      { name: 'META-INF/X.SF', contents: 'x' },
    ]);
    const kept = zip([
      { name: 'a', contents: 'a' },
      { name: MANIFEST, contents: 'X: 1', extra: Buffer.from('efbe0000', 'hex') },
    ]);
    expect(await removed(bytes)).toEqual(kept);
  });

  it('a changed one keeps its place', async () => {
    const { result } = await signBytes(jar, zip([{ name: MANIFEST, contents: 'X: 1\r\n\r\n' }, { name: 'a' }]), signer);
    const moved = repack(result, { [MANIFEST]: undefined }, [
      { name: MANIFEST, contents: contentsOf(result, MANIFEST) },
      { name: 'z', contents: 'z' },
    ]);
    expect(names(await removed(moved))).toEqual(['a', MANIFEST, 'z']);
  });
});

it('a signature that is taken out leaves stored entries as aligned as they are', async () => {
  const bytes = zip([
    { name: MANIFEST, contents: 'X: 1\r\n\r\n' },
    { name: 'abcd', contents: 'stored', isStored: true },
  ]);
  const alignmentIn = (archive: Buffer) => archive.indexOf('stored') % 4;
  const { result } = await signBytes(jar, bytes, signer);
  expect(alignmentIn(await removed(result))).toBe(alignmentIn(bytes));
});

it('all signatures and halves of them are removed, of any kind and name; SIG-* files stay', async () => {
  const { result } = await signBytes(jar, zip([{ name: 'a', contents: 'a' }]), signer);
  const bytes = repack(result, {}, [
    { name: 'META-INF/OLD.SF', contents: 'x' },
    { name: 'META-INF/older.Dsa', contents: 'x' },
    { name: 'META-INF/x/INNER.SF', contents: 'x' },
    { name: 'META-INF/SIG-X', contents: 'x' },
  ]);
  expect(names(await removed(bytes))).toEqual(['a', 'META-INF/x/INNER.SF', 'META-INF/SIG-X']);
});
