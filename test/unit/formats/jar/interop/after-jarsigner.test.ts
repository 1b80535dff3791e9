import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { folderForAll } from '../../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { jarsignerSign, makeKeystore } from '../../../../system/interop/java/jarsigner.ts';
import { applyPatch } from '../../support/apply-patch.ts';
import { removalOf } from '../../support/change.ts';
import { readFixture } from '../../support/fixtures.ts';
import { codesOf, isIntact } from '../../support/is-intact.ts';
import { openBytes, signBytes } from '../../support/sign-bytes.ts';
import { contentsOf, MANIFEST, namesIn } from '../simple-zip.ts';

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

it('breaks the first signature, which then is not skipped as already signed', async () => {
  const signatures = await (await openBytes(jar, await byJarsigner(signed, 'SHA-512'))).signatures();
  const both = new Map(signatures.map((signature) => [signature.signer.name, signature]));
  expect(await codesOf(both.get('Test Publisher'))).toEqual(['manifest-digest-differs']);
  expect(await isIntact(both.get('Another Publisher'))).toBe(true);
});

it('is removed together with its digests', async () => {
  const theirs = await byJarsigner(readFixture('jar/manifest-sections.jar'), 'SHA-384');
  const removed = applyPatch(theirs, await removalOf(await openBytes(jar, theirs)));
  expect(namesIn(removed)).not.toContainEqual(expect.stringMatching(/\.(SF|RSA)$/));
  expect(contentsOf(removed, MANIFEST).toString()).not.toContain('-Digest');
});
