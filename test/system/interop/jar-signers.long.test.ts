/** Adds our signature to those of jarsigner in the corpus (CODESIGN_TEST_CORPUS): none of them is broken. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jar } from '../../../src/formats/jar/index.ts';
import { jarsignerVerify, javaHomes, makeTruststore } from '../../support/programs/java.ts';
import type { ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { openBytes } from '../../unit/formats/support/sign-bytes.ts';
import { readAsArchives, readAsStreams } from './java/readers.ts';
import { makeRootedSigner } from './rooted-signer.ts';
import { signFromDisk } from './sign-from-disk.ts';
import { readSpecialFiles } from './special/special-files.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS ?? '';
const signedAlready = readSpecialFiles('jar-special')
  .map(({ file }) => file)
  .filter((file) => file.startsWith('signed'));

let signer: ThrowawaySigner;
let folder: string;
let truststore: string;

const originalPath = (file: string) => path.join(corpus, 'jar-special', file);

describe.skipIf(corpus === '')('next to the signatures in the corpus', () => {
  beforeAll(async () => {
    signer = await makeRootedSigner();
    folder = mkdtempSync(path.join(tmpdir(), 'codesign-second-'));
    const theirs = await Promise.all(signedAlready.map((file) => certificatesIn(readFileSync(originalPath(file)))));
    truststore = makeTruststore([signer.root, ...new Set(theirs.flat())].join('\n'), folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are six files', () => {
    expect(signedAlready).toHaveLength(6);
  });

  it.each(signedAlready.flatMap((file) => (['SHA256', 'SHA512'] as const).map((algorithm) => ({ file, algorithm }))))(
    'ours stands, and each one that was there covers what it covered: $file, $algorithm',
    async ({ file, algorithm }) => {
      const original = originalPath(file);
      const appended = path.join(folder, `${algorithm}-${file}`);
      writeFileSync(appended, await signFromDisk(jar, original, signer, { algorithm, mode: 'append' }));
      for (const java of javaHomes()) {
        const [before, after] = await readAsArchives(java, [original, appended]);
        const [stream] = await readAsStreams(java, [appended]);
        const expected = [...(before?.signers ?? []), ...(before?.unsigned ?? []).map((entry) => [entry, []] as const)];
        expect(before?.signers.size).toBeGreaterThan(0);
        expect(after).toMatchObject({ unsigned: [], failures: [], entries: expected.length });
        expect(after?.signers).toEqual(
          new Map(expected.map(([entry, names]) => [entry, [...names, 'Test Publisher'].sort()])),
        );
        expect(stream?.signers).toEqual(after?.signers);
        expect(await jarsignerVerify(java, truststore, appended)).toMatchObject({ accepted: true });
      }
    },
  );
});

/** PEM: their roots are among them, so that jarsigner -strict checks every chain. */
async function certificatesIn(bytes: Buffer): Promise<string[]> {
  const signatures = await (await openBytes(jar, bytes)).signatures();
  return signatures.flatMap(({ envelope }) => {
    const text = execFileSync('openssl', ['pkcs7', '-inform', 'DER', '-print_certs'], {
      input: envelope.bytes,
    }).toString();
    return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  });
}
