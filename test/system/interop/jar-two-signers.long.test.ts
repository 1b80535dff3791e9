/** Signatures of two signers in one JAR, both ours, or ours and then jarsigner's: Java finds both whole on each file. */

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { jar } from '../../../src/formats/jar/index.ts';
import { type JarsignerVerdict, jarsignerVerifyAll, mainJava, makeTruststore } from '../../support/programs/java.ts';
import { folderForAll } from '../../support/set-up.ts';
import type { ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { readFixture } from '../../unit/formats/support/fixtures.ts';
import { type SignBytesOptions, signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { jarsignerSignAll, makeKeystore } from './java/jarsigner.ts';
import { type ArchiveReading, type JarReading, readAsArchives, readAsStreams } from './java/readers.ts';
import { makeRootedSigner } from './rooted-signer.ts';

/** Manifests that are short, that have attributes for files, and whose lines end in CR. */
const ORIGINALS = ['plain.jar', 'multi-release.jar', 'manifest-sections.jar', 'manifest-cr.jar'];
/** Has a section for a folder that the archive holds. */
const WITH_FOLDER_SECTION = 'manifest-sections.jar';

const folder = folderForAll();

const first = await makeRootedSigner({ publisher: 'First Publisher' });
const second = await makeRootedSigner({ publisher: 'Second Publisher', bits: 3072 });
const keystore = makeKeystore(folder, 'Their Publisher', 'theirs');
const truststore = makeTruststore(first.root, folder);

const original = (name: string) => readFixture(`jar/${name}`);

async function ours(bytes: Buffer, signer: ThrowawaySigner, options: SignBytesOptions = {}): Promise<Buffer> {
  return (await signBytes(jar, bytes, signer, options)).result;
}

function written(all: readonly Buffer[]): string[] {
  const place = mkdtempSync(path.join(folder, 'made-'));
  return all.map((bytes, index) => {
    const file = path.join(place, `${index}.jar`);
    writeFileSync(file, bytes);
    return file;
  });
}

/** All in one JVM. */
async function theirs(all: readonly (readonly [bytes: Buffer, digestAlgorithm: string])[]): Promise<readonly Buffer[]> {
  const inputs = written(all.map(([bytes]) => bytes));
  const requests = inputs.map((input, index) => {
    return { keystore, input, output: `${input}-signed.jar`, digestAlgorithm: all[index]?.[1] ?? '' };
  });
  await jarsignerSignAll(requests);
  return requests.map(({ output }) => readFileSync(output));
}

async function bothOurs(algorithm: 'SHA256' | 'SHA512', another: 'SHA256' | 'SHA512'): Promise<Buffer[]> {
  const twice = async (name: string) =>
    ours(await ours(original(name), first, { algorithm }), second, { algorithm: another, mode: 'append' });
  return Promise.all(ORIGINALS.map(twice));
}

const OURS = ['First Publisher', 'Second Publisher'];
const MIXED = ['First Publisher', 'Their Publisher'];

const made = new Map<string, { readonly files: readonly string[]; readonly publishers: readonly string[] }>();
let withSha1: Buffer;
let all: readonly string[];
let streams: readonly JarReading[];
let archives: readonly ArchiveReading[];
let verdicts: readonly JarsignerVerdict[];

beforeAll(async () => {
  const add = (name: string, publishers: readonly string[], files: readonly Buffer[]) =>
    made.set(name, { files: written(files), publishers });
  add('both ours: SHA256, then SHA256', OURS, await bothOurs('SHA256', 'SHA256'));
  add('both ours: SHA256, then SHA512', OURS, await bothOurs('SHA256', 'SHA512'));
  add('both ours: SHA512, then SHA256', OURS, await bothOurs('SHA512', 'SHA256'));

  const once = ORIGINALS.filter((name) => name !== WITH_FOLDER_SECTION).map((name) => ours(original(name), first));
  const byThem = await theirs([
    [original('plain.jar'), 'SHA-1'],
    ...(await Promise.all(once)).map((bytes) => [bytes, 'SHA-256'] as const),
  ]);
  withSha1 = byThem[0] ?? Buffer.of();
  add("ours, then jarsigner's with the same digest", MIXED, byThem.slice(1));

  all = [...made.values()].flatMap(({ files }) => files);
  streams = await readAsStreams(mainJava(), all);
  archives = await readAsArchives(mainJava(), all);
  verdicts = await jarsignerVerifyAll(
    mainJava(),
    all.map((file) => ({ jar: file, truststore })),
  );
});

it("whole to Java's two readers and to jarsigner: each file is signed by both, and the chains lead to the root", () => {
  expect(all).toHaveLength(15);
  for (const [name, { files, publishers }] of made) {
    for (const index of files.map((file) => all.indexOf(file))) {
      const reading = archives[index];
      expect([name, reading]).toMatchObject([name, { unsigned: [], failures: [] }]);
      const signers = [...(reading?.signers.values() ?? [])];
      expect([name, signers]).toEqual([name, Array(reading?.entries).fill(publishers)]);
      expect(streams[index]?.signers).toEqual(reading?.signers);
      expect([name, verdicts[index]]).toMatchObject([name, { accepted: true }]);
    }
  }
});

it('ours is rejected if it would break the existing one: its digests are SHA-1, and no file can get another', async () => {
  await expect(ours(withSha1, first, { mode: 'append' })).rejects.toMatchObject({ code: 'cannot-append' });
});
