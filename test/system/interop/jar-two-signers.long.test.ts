/**
 * Signatures of several signers in one JAR: both ours, ours and then jarsigner's, and jarsigner's in the corpus
 * (CODESIGN_TEST_CORPUS) and then ours. Java finds each of them whole on each file.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { jar } from '../../../src/formats/jar/index.ts';
import { fixture } from '../../support/programs/cli.ts';
import { jarsignerVerifyAll, javaHomes, mainJava, makeTruststore } from '../../support/programs/java.ts';
import { folderForAll } from '../../support/set-up.ts';
import type { ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { type SignBytesOptions, signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { jarsignerSignAll, makeKeystore } from './java/jarsigner.ts';
import { readAsArchives, readAsStreams } from './java/readers.ts';
import { makeRootedSigner } from './rooted-signer.ts';
import { readSpecialFiles } from './special/special-files.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS ?? '';
const SIGNED = readSpecialFiles('jar-special').flatMap(({ file }) => (file.startsWith('signed') ? [file] : []));
/** Manifests that are short, that have attributes for files, and whose lines end in CR. */
const ORIGINALS = ['plain.jar', 'multi-release.jar', 'manifest-sections.jar', 'manifest-cr.jar'];
/** Has a section for a folder that the archive holds. */
const WITH_FOLDER_SECTION = 'manifest-sections.jar';
const ALGORITHMS = ['SHA256', 'SHA512'] as const;

const folder = folderForAll();
const first = await makeRootedSigner({ publisher: 'First Publisher' });
const second = await makeRootedSigner({ publisher: 'Second Publisher', bits: 3072 });
const keystore = makeKeystore(folder, 'Their Publisher', 'theirs');

const cases: { readonly original: string; readonly added: readonly string[]; readonly file: string }[] = [];
let files = 0;
const newPath = () => path.join(folder, `${files++}.jar`);

/** Signs a copy. @returns its path */
async function signed(file: string, signer: ThrowawaySigner, options: SignBytesOptions = {}): Promise<string> {
  const copy = newPath();
  writeFileSync(copy, (await signBytes(jar, readFileSync(file), signer, { ...options, unchecked: true })).result);
  return copy;
}

beforeAll(async () => {
  const byThem: { readonly keystore: string; readonly input: string; readonly output: string }[] = [];
  for (const name of ORIGINALS) {
    const original = fixture(`jar/${name}`);
    const once = await signed(original, first);
    for (const algorithm of ALGORITHMS) {
      const file = await signed(once, second, { algorithm, mode: 'append' });
      cases.push({ original, added: ['First Publisher', 'Second Publisher'], file });
    }
    if (name === WITH_FOLDER_SECTION) continue;
    const output = newPath();
    byThem.push({ keystore, input: once, output });
    cases.push({ original, added: ['First Publisher', 'Their Publisher'], file: output });
  }
  await jarsignerSignAll(byThem);
  for (const name of corpus === '' ? [] : SIGNED) {
    const original = path.join(corpus, 'jar-special', name);
    for (const algorithm of ALGORITHMS) {
      cases.push({
        original,
        added: ['Second Publisher'],
        file: await signed(original, second, { algorithm, mode: 'append' }),
      });
    }
  }
});

it.each(javaHomes())('each signature covers what it covered, to the two readers of Java $version', async (java) => {
  expect(cases).toHaveLength(corpus === '' ? 11 : 23);
  const originals = await readAsArchives(
    java,
    cases.map(({ original }) => original),
  );
  const results = cases.map(({ file }) => file);
  const [archives, streams] = [await readAsArchives(java, results), await readAsStreams(java, results)];
  for (const [index, { original, added }] of cases.entries()) {
    const { signers, unsigned } = originals[index] ?? expect.unreachable();
    const covered = [...signers, ...unsigned.map((entry) => [entry, []] as const)];
    const expected = new Map(covered.map(([entry, names]) => [entry, [...names, ...added].sort()]));
    expect([original, archives[index]]).toMatchObject([original, { unsigned: [], failures: [] }]);
    expect([original, archives[index]?.signers, streams[index]?.signers]).toEqual([original, expected, expected]);
  }
});

it('jarsigner accepts those whose signers are all below the root that it trusts', async () => {
  const truststore = makeTruststore(first.root, folder);
  const ours = cases.filter(({ added }) => added.includes('First Publisher'));
  const verdicts = await jarsignerVerifyAll(
    mainJava(),
    ours.map(({ file }) => ({ jar: file, truststore })),
  );
  expect(verdicts.filter(({ accepted }) => !accepted)).toEqual([]);
});
