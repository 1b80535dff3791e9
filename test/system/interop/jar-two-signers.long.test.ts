/** Signatures of several signers in one JAR, ours and jarsigner's in either order: Java finds all of them whole on each file. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jar } from '../../../src/formats/jar/index.ts';
import { jarsignerVerifyAll, mainJava, makeTruststore } from '../../support/programs/java.ts';
import type { ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { readFixture } from '../../unit/formats/support/fixtures.ts';
import { type SignBytesOptions, signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { jarsignerSign, makeKeystore } from './java/jarsigner.ts';
import { readAsArchives, readAsStreams } from './java/readers.ts';
import { makeRootedSigner } from './rooted-signer.ts';

/** Manifests that are short, that have attributes for files, and whose lines end in CR. */
const ORIGINALS = ['plain.jar', 'multi-release.jar', 'manifest-sections.jar', 'manifest-cr.jar'];
/** Has a section for a folder that the archive holds. */
const WITH_FOLDER_SECTION = 'manifest-sections.jar';

let first: ThrowawaySigner;
let second: ThrowawaySigner;
let folder: string;
let keystore: string;
let truststore: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'codesign-signers-'));
  first = await makeRootedSigner({ publisher: 'First Publisher' });
  second = await makeRootedSigner({ publisher: 'Second Publisher', bits: 3072 });
  keystore = makeKeystore(folder, 'Their Publisher', 'theirs');
  truststore = makeTruststore(first.root, folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const original = (name: string) => readFixture(`jar/${name}`);

async function ours(bytes: Buffer, signer: ThrowawaySigner, options: SignBytesOptions = {}): Promise<Buffer> {
  return (await signBytes(jar, bytes, signer, options)).result;
}

/** `said` is what a user reads. */
async function theirs(
  bytes: Buffer,
  digestAlgorithm: string,
): Promise<{ readonly bytes: Buffer; readonly said: string }> {
  const [input, output] = [path.join(folder, 'input.jar'), path.join(folder, 'output.jar')];
  writeFileSync(input, bytes);
  const said = await jarsignerSign({ keystore, input, output, digestAlgorithm });
  return { bytes: readFileSync(output), said };
}

/** Of each original by `make`; in a folder of their own. */
async function madeOf(originals: readonly string[], make: (bytes: Buffer) => Promise<Buffer>): Promise<string[]> {
  const made = mkdtempSync(path.join(folder, 'made-'));
  const files: string[] = [];
  for (const name of originals) {
    const file = path.join(made, name);
    writeFileSync(file, await make(original(name)));
    files.push(file);
  }
  return files;
}

/** Whole to Java's two readers and to jarsigner: each file in them is signed by these, and the chains lead to the root. */
async function expectSigners(files: readonly string[], publishers: readonly string[]): Promise<void> {
  const streams = await readAsStreams(mainJava(), files);
  for (const [index, reading] of (await readAsArchives(mainJava(), files)).entries()) {
    expect(reading).toMatchObject({ unsigned: [], failures: [] });
    expect([...reading.signers.values()]).toEqual(Array(reading.entries).fill(publishers));
    expect(streams[index]?.signers).toEqual(reading.signers);
  }
  const verdicts = await jarsignerVerifyAll(mainJava(), truststore, files);
  for (const verdict of verdicts) expect(verdict).toMatchObject({ accepted: true });
}

describe('two signers are whole side by side', () => {
  it.each([
    ['SHA256', 'SHA256'],
    ['SHA256', 'SHA512'],
    ['SHA512', 'SHA256'],
  ] as const)('both ours: %s, then %s', async (algorithm, another) => {
    const files = await madeOf(ORIGINALS, async (bytes) =>
      ours(await ours(bytes, first, { algorithm }), second, { algorithm: another, mode: 'append' }),
    );
    await expectSigners(files, ['First Publisher', 'Second Publisher']);
  });

  it.each([
    ['SHA-256', 'SHA256'],
    ['SHA-256', 'SHA512'],
    ['SHA-512', 'SHA256'],
  ] as const)("jarsigner's with %s, then ours with %s", async (digestAlgorithm, algorithm) => {
    const files = await madeOf(ORIGINALS, async (bytes) =>
      ours((await theirs(bytes, digestAlgorithm)).bytes, first, { algorithm, mode: 'append' }),
    );
    await expectSigners(files, ['First Publisher', 'Their Publisher']);
  });

  it("ours, then jarsigner's with the same digest", async () => {
    const others = ORIGINALS.filter((name) => name !== WITH_FOLDER_SECTION);
    const files = await madeOf(others, async (bytes) => (await theirs(await ours(bytes, first), 'SHA-256')).bytes);
    await expectSigners(files, ['First Publisher', 'Their Publisher']);
  });
});

it('ours is rejected where it would break the one that is there: its digests are of SHA-1, and no file can get another', async () => {
  const once = await theirs(original('plain.jar'), 'SHA-1');
  await expect(ours(once.bytes, first, { mode: 'append' })).rejects.toMatchObject({ code: 'cannot-append' });
});

describe('jarsigner breaks the signature that is there, and reports success,', () => {
  async function expectBroken(name: string, digestAlgorithm: string, complaint: RegExp): Promise<void> {
    const { bytes, said } = await theirs(await ours(original(name), first), digestAlgorithm);
    expect(said).toMatch(/^jar signed\.$/m);
    expect(said).not.toMatch(/First Publisher|FIRST_PU|broken|other signature/i);
    const file = path.join(folder, `broken-${name}`);
    writeFileSync(file, bytes);
    const [reading] = await readAsArchives(mainJava(), [file]);
    expect(reading?.failures).toContainEqual(expect.stringMatching(complaint));
  }

  it('where its own has another digest', async () => {
    await expectBroken('plain.jar', 'SHA-512', /invalid SHA-256 signature file digest for hello\/Hello\.class$/);
  });

  it('where the manifest has a section for a folder that the archive holds: it puts a digest there', async () => {
    await expectBroken(WITH_FOLDER_SECTION, 'SHA-256', /invalid SHA-256 signature file digest for hello\/$/);
  });
});
