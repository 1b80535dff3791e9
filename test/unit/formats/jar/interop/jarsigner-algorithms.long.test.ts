/** Signatures of jarsigner by algorithms that this program never signs with, and Java takes. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { mainJava, mustRunJava, STORE_PASSWORD } from '../../../../support/programs/java.ts';
import { readFixture } from '../../support/fixtures.ts';
import { codesOf } from '../../support/is-intact.ts';
import { openBytes } from '../../support/sign-bytes.ts';
import { contentsOf, repack } from '../simple-zip.ts';

/** The first release whose jarsigner signs by all of them. */
const RELEASE = 17;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'codesign-algorithms-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function byJarsigner(key: readonly string[], options: readonly string[]): Promise<Buffer> {
  const [input, output, store] = [join(folder, 'in.jar'), join(folder, 'out.jar'), join(folder, `${key[1]}.p12`)];
  writeFileSync(input, readFixture('jar/plain.jar'));
  const into = ['-keystore', store, '-storetype', 'PKCS12', '-storepass', STORE_PASSWORD];
  rmSync(store, { force: true });
  await mustRunJava(mainJava(), 'keytool', ['-genkeypair', '-alias', 'test', '-dname', 'CN=Test', ...key, ...into]);
  await mustRunJava(mainJava(), 'jarsigner', [...into, ...options, '-signedjar', output, input, 'test']);
  return readFileSync(output);
}

async function codes(bytes: Buffer): Promise<readonly string[]> {
  const [signature, ...others] = await (await openBytes(jar, bytes)).signatures();
  expect(others).toEqual([]);
  return codesOf(signature);
}

describe.skipIf(mainJava().release < RELEASE)('a signature of jarsigner', () => {
  it.each([
    ['an Ed25519 key', '.EC', ['-keyalg', 'Ed25519'], []],
    ['an Ed448 key', '.EC', ['-keyalg', 'Ed448'], []],
    ['an RSA key and SHA3-256', '.RSA', ['-keyalg', 'RSA'], ['-sigalg', 'SHA3-256withRSA', '-digestalg', 'SHA3-256']],
    ['an EC key and SHA3-512', '.EC', ['-keyalg', 'EC'], ['-sigalg', 'SHA3-512withECDSA']],
  ])('by %s is intact, until it or what it signs is changed', async (_, extension, key, options) => {
    const signed = await byJarsigner(key, options);
    expect(await codes(signed)).toEqual([]);

    const block = `META-INF/TEST${extension}`;
    const cms = contentsOf(signed, block);
    const otherValue = Buffer.from(cms);
    otherValue[cms.length - 8] = (cms.at(-8) ?? 0) ^ 1;
    expect(await codes(repack(signed, { [block]: otherValue }))).toEqual(['signature-value-wrong']);

    const file = 'META-INF/TEST.SF';
    const otherFile = Buffer.concat([contentsOf(signed, file), Buffer.from('Name: other\r\n\r\n')]);
    expect(await codes(repack(signed, { [file]: otherFile }))).toContain('message-digest-differs');
  });
});
