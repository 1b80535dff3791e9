/** Signatures of several signers in one JAR, ours and jarsigner's in either order: Java finds all of them whole on each file. */

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jar } from '../../../src/formats/jar/index.ts';
import { jarsignerVerifyAll, mainJava, makeTruststore } from '../../support/programs/java.ts';
import { folderForAll } from '../../support/set-up.ts';
import type { ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { readFixture } from '../../unit/formats/support/fixtures.ts';
import { type SignBytesOptions, signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { jarsignerSignAll, makeKeystore } from './java/jarsigner.ts';
import { readAsArchives, readAsStreams } from './java/readers.ts';
import { makeRootedSigner } from './rooted-signer.ts';

/** Manifests that are short, that have attributes for files, and whose lines end in CR. */
const ORIGINALS = ['plain.jar', 'multi-release.jar', 'manifest-sections.jar', 'manifest-cr.jar'];
/** Has a section for a folder that the archive holds. */
const WITH_FOLDER_SECTION = 'manifest-sections.jar';
/** Have sections of missing files: jarsigner signs these, so `verify` calls its signature broken. */
const WITH_MISSING_FILES = ['manifest-sections.jar', 'manifest-cr.jar'];

const folder = folderForAll();

const first = await makeRootedSigner({ publisher: 'First Publisher' });
const second = await makeRootedSigner({ publisher: 'Second Publisher', bits: 3072 });
const keystore = makeKeystore(folder, 'Their Publisher', 'theirs');
const truststore = makeTruststore(first.root, folder);

const original = (name: string) => readFixture(`jar/${name}`);

async function ours(bytes: Buffer, signer: ThrowawaySigner, options: SignBytesOptions = {}): Promise<Buffer> {
  return (await signBytes(jar, bytes, signer, options)).result;
}

async function theirs(all: readonly Buffer[], digestAlgorithm: string): Promise<readonly Buffer[]> {
  const place = mkdtempSync(path.join(folder, 'theirs-'));
  const requests = all.map((bytes, index) => {
    const input = path.join(place, `${index}.jar`);
    writeFileSync(input, bytes);
    return { keystore, input, output: path.join(place, `${index}-signed.jar`), digestAlgorithm };
  });
  await jarsignerSignAll(requests);
  return requests.map(({ output }) => readFileSync(output));
}

/** In a folder of their own. @returns their paths */
async function written(all: readonly (Buffer | Promise<Buffer>)[]): Promise<string[]> {
  const place = mkdtempSync(path.join(folder, 'made-'));
  return (await Promise.all(all)).map((bytes, index) => {
    const file = path.join(place, `${index}.jar`);
    writeFileSync(file, bytes);
    return file;
  });
}

/** Whole to Java's two readers and to jarsigner: each file in them is signed by these, and the chains lead to the root. */
async function expectSigners(files: readonly string[], publishers: readonly string[]): Promise<void> {
  const streams = await readAsStreams(mainJava(), files);
  for (const [index, reading] of (await readAsArchives(mainJava(), files)).entries()) {
    expect(reading).toMatchObject({ unsigned: [], failures: [] });
    expect([...reading.signers.values()]).toEqual(Array(reading.entries).fill(publishers));
    expect(streams[index]?.signers).toEqual(reading.signers);
  }
  const verdicts = await jarsignerVerifyAll(
    mainJava(),
    files.map((jar) => ({ jar, truststore })),
  );
  for (const verdict of verdicts) expect(verdict).toMatchObject({ accepted: true });
}

describe('two signers are valid side by side', () => {
  it.each([
    ['SHA256', 'SHA256'],
    ['SHA256', 'SHA512'],
    ['SHA512', 'SHA256'],
  ] as const)('both ours: %s, then %s', async (algorithm, another) => {
    const twice = async (bytes: Buffer) =>
      ours(await ours(bytes, first, { algorithm }), second, { algorithm: another, mode: 'append' });
    const files = await written(ORIGINALS.map((name) => twice(original(name))));
    await expectSigners(files, ['First Publisher', 'Second Publisher']);
  });

  it.each([
    ['SHA-256', 'SHA256'],
    ['SHA-256', 'SHA512'],
    ['SHA-512', 'SHA256'],
  ] as const)("jarsigner's with %s, then ours with %s", async (digestAlgorithm, algorithm) => {
    const others = ORIGINALS.filter((name) => !WITH_MISSING_FILES.includes(name));
    const once = await theirs(others.map(original), digestAlgorithm);
    const files = await written(once.map((bytes) => ours(bytes, first, { algorithm, mode: 'append' })));
    await expectSigners(files, ['First Publisher', 'Their Publisher']);
  });

  it("ours, then jarsigner's with the same digest", async () => {
    const others = ORIGINALS.filter((name) => name !== WITH_FOLDER_SECTION);
    const once = await Promise.all(others.map((name) => ours(original(name), first)));
    const files = await written(await theirs(once, 'SHA-256'));
    await expectSigners(files, ['First Publisher', 'Their Publisher']);
  });
});

it('ours is rejected if it would break the existing one: its digests are SHA-1, and no file can get another', async () => {
  const [once] = await theirs([original('plain.jar')], 'SHA-1');
  await expect(ours(once ?? Buffer.of(), first, { mode: 'append' })).rejects.toMatchObject({
    code: 'cannot-append',
  });
});
