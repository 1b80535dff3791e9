/** Adds our signature to those of jarsigner in the corpus (CODESIGN_TEST_CORPUS): none of them is broken. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jar } from '../../../src/formats/jar/index.ts';
import { javaHomes } from '../../support/programs/java.ts';
import type { ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { readAsArchives, readAsStreams } from './java/readers.ts';
import { makeRootedSigner } from './rooted-signer.ts';
import { readSpecialFiles } from './special/special-files.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS ?? '';
const signedAlready = readSpecialFiles('jar-special')
  .map(({ file }) => file)
  .filter((file) => file.startsWith('signed'));

const javas = corpus === '' ? [] : javaHomes();

let signer: ThrowawaySigner;
let folder: string;
const originalPath = (file: string) => path.join(corpus, 'jar-special', file);

describe.skipIf(corpus === '')('next to the signatures in the corpus', () => {
  beforeAll(async () => {
    signer = await makeRootedSigner();
    folder = mkdtempSync(path.join(tmpdir(), 'codesign-second-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are six files', () => {
    expect(signedAlready).toHaveLength(6);
  });

  const cases = signedAlready.flatMap((file) =>
    (['SHA256', 'SHA512'] as const).map((algorithm) => ({ file, algorithm })),
  );
  const appendedPath = ({ file, algorithm }: (typeof cases)[number]) => path.join(folder, `${algorithm}-${file}`);

  it.each(cases)('ours is added: $file, $algorithm', async (which) => {
    const { file, algorithm } = which;
    const { result } = await signBytes(jar, readFileSync(originalPath(file)), signer, {
      algorithm,
      mode: 'append',
      unchecked: true,
    });
    writeFileSync(appendedPath(which), result);
  });

  it.each(javas)('ours is valid, and each existing one covers what it covered, to Java $version', async (java) => {
    const originals = await readAsArchives(java, signedAlready.map(originalPath));
    const files = cases.map(appendedPath);
    const archives = await readAsArchives(java, files);
    const streams = await readAsStreams(java, files);
    for (const [index, which] of cases.entries()) {
      const file = appendedPath(which);
      const before = originals[signedAlready.indexOf(which.file)];
      const after = archives[index];
      const expected = [...(before?.signers ?? []), ...(before?.unsigned ?? []).map((entry) => [entry, []] as const)];
      expect(before?.signers.size).toBeGreaterThan(0);
      expect([file, after]).toMatchObject([file, { unsigned: [], failures: [], entries: expected.length }]);
      const signers = new Map(expected.map(([entry, names]) => [entry, [...names, 'Test Publisher'].sort()]));
      expect([file, after?.signers, streams[index]?.signers]).toEqual([file, signers, signers]);
    }
  });
});
