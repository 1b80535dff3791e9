/** Holds what is said of signatures after jarsigner has signed the same file, which adds digests to the manifest in silence. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { folderForAll } from '../../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { jarsignerSign, makeKeystore } from '../../../../system/interop/java/jarsigner.ts';
import { applyPatch } from '../../support/apply-patch.ts';
import { removalOf } from '../../support/change.ts';
import { readFixture } from '../../support/fixtures.ts';
import { codesOf, isIntact } from '../../support/is-intact.ts';
import { openBytes, signBytes } from '../../support/sign-bytes.ts';
import { contentsOf, unzip } from '../simple-zip.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';
const folder = folderForAll();

const keystore = makeKeystore(folder, 'Another Publisher');
const signer = await makeThrowawaySigner();
const signed = (await signBytes(jar, readFixture('jar/plain.jar'), signer, { signerName: 'ours' })).result;

async function byJarsigner(bytes: Buffer, digestAlgorithm: string): Promise<Buffer> {
  const [input, output] = [join(folder, 'in.jar'), join(folder, 'out.jar')];
  writeFileSync(input, bytes);
  await jarsignerSign({ keystore, input, output, digestAlgorithm });
  return readFileSync(output);
}

async function signaturesOf(bytes: Buffer) {
  const signatures = await (await openBytes(jar, bytes)).signatures();
  return new Map(signatures.map((signature) => [signature.signer.name, signature]));
}

describe('next to a signature of jarsigner', () => {
  it('added by another one, the first is broken, so that it is not skipped as already signed', async () => {
    const both = await signaturesOf(await byJarsigner(signed, 'SHA-512'));
    expect(await codesOf(both.get('Test Publisher'))).toEqual(['manifest-digest-differs']);
    expect(await isIntact(both.get('Another Publisher'))).toBe(true);
  });
});

describe('a signature of jarsigner', () => {
  it('is removed together with its digests', async () => {
    const original = readFixture('jar/manifest-sections.jar');
    const theirs = await byJarsigner(original, 'SHA-384');
    const removed = applyPatch(theirs, await removalOf(await openBytes(jar, theirs)));
    expect(unzip(removed).map(({ name }) => name)).not.toContainEqual(expect.stringMatching(/\.(SF|RSA)$/));
    expect(contentsOf(removed, MANIFEST).toString()).not.toContain('-Digest');
  });
});
