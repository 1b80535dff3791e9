import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { lossesOf } from '../../../system/interop/compare-archives.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { removalOf } from '../support/change.ts';
import { fixturesIn, readFixture } from '../support/fixtures.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { contentsOf, jarOf, MANIFEST, namesIn, repack, zip } from './simple-zip.ts';

const signer = await makeThrowawaySigner();

const removed = async (bytes: Buffer) => applyPatch(bytes, await removalOf(await openBytes(jar, bytes)));
const signedAndRemoved = async (bytes: Buffer) => removed((await signBytes(jar, bytes, signer)).result);

const REWRITTEN = fixturesIn('jar').filter(({ name }) => /manifest-(lower|old|wrap|last)|zip64-sizes|web/.test(name));

describe('signed and unsigned again', () => {
  it.each(REWRITTEN)('$name has lost nothing', async ({ name, bytes }) => {
    const lost = lossesOf(bytes, await signedAndRemoved(bytes));
    // Its one section held nothing but a digest, as those do that signing adds.
    const section = 'manifest: Name: hello/Hello.class: Name: hello/Hello.class';
    expect(lost).toEqual(name === 'jar/manifest-old-digest.jar' ? [section] : []);
  });

  it('keeps in its first entry the field by which it is distinguished from other archives', async () => {
    const bytes = await signedAndRemoved(readFixture('jar/cafe.jar'));
    const nameEnd = 30 + bytes.readUInt16LE(26);
    expect(bytes.toString('hex', nameEnd, nameEnd + bytes.readUInt16LE(28))).toBe('feca0000');
  });

  it('an archive without a manifest is byte for byte what it was', async () => {
    const files = [
      { name: 'a', contents: 'abc', isStored: true },
      { name: 'b', contents: 'b' },
    ];
    const executable = zip([{ name: 'a', contents: 'a', extra: Buffer.from('feca0000', 'hex') }]);
    for (const bytes of [readFixture('jar/no-manifest.jar'), zip(files, { preamble: '#!/bin/sh\n' }), executable])
      expect(await signedAndRemoved(bytes)).toEqual(bytes);
  });
});

describe('in the manifest', () => {
  const manifestAfter = async (manifest: string) =>
    contentsOf(await signedAndRemoved(jarOf(manifest, 'a', 'b')), MANIFEST).toString();

  it('the removal keeps other sections and attributes, line feeds, empty lines, and unknown digests', async () => {
    for (const manifest of [
      'Manifest-Version: 1.0\r\nX: 1\r\n\r\nName: p/\r\nSealed: true\r\n\r\n',
      'Manifest-Version: 1.0\nX: 1\n\nName: b\nX: 1\n\n',
      'Manifest-Version: 1.0\r\n\r\n\r\nName: a\r\nX: 1\r\n\r\n\r\n\r\n',
      'Manifest-Version: 1.0\r\n\r\nName: a\r\nFoo-Digest: x\r\n\r\n',
      `Manifest-Version: 1.0\r\n\r\nName: ${'n'.repeat(60)}\r\n nnn\r\nX: 1\r\n\r\n`,
      'X: 1\r\n\r\nName: c\r\n\r\n',
    ])
      expect(await manifestAfter(manifest)).toBe(manifest);
  });

  it('existing digests are removed, for every algorithm that signers have used', async () => {
    const digests = ['MD2', 'MD5', 'SHA', 'SHA1', 'sha-512'].map((name) => `${name}-Digest: AAAA\r\n`).join('');
    const before = `X: 1\r\n\r\nName: a\r\n${digests}Y: 2\r\n\r\nName: c\r\nSHA-256-Digest: AA\r\n A=\r\n\r\n`;
    expect(await manifestAfter(before)).toBe('X: 1\r\n\r\nName: a\r\nY: 2\r\n\r\n');
  });

  it('nothing is removed, and its record stays, if it has no digests', async () => {
    const manifest = { name: MANIFEST, contents: 'X: 1', extra: Buffer.from('efbe0000', 'hex') };
    const kept = [{ name: 'a', contents: 'a' }, manifest];
    expect(await removed(zip([...kept, { name: 'META-INF/X.SF', contents: 'x' }]))).toEqual(zip(kept));
  });
});

it('removes all signatures and halves of them, of any kind and name, but not SIG-* files, and moves nothing', async () => {
  const { result } = await signBytes(jar, jarOf('X: 1\r\n\r\n', 'a'), signer);
  const last = { name: MANIFEST, contents: contentsOf(result, MANIFEST) };
  const others = ['OLD.SF', 'older.Dsa', 'x/INNER.SF', 'SIG-X'].map((name) => `META-INF/${name}`);
  const bytes = repack(result, { [MANIFEST]: undefined }, [last, ...others.map((name) => ({ name, contents: 'x' }))]);
  expect(namesIn(await removed(bytes))).toEqual(['a', MANIFEST, 'META-INF/x/INNER.SF', 'META-INF/SIG-X']);
});
