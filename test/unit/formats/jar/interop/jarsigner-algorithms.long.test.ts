/** Signatures of jarsigner by algorithms that this program never signs with, and Java takes. */

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { javaProgram, mainJava, mustJarsignAll, STORE_PASSWORD } from '../../../../support/programs/java.ts';
import { folderForAll } from '../../../../support/set-up.ts';
import { readFixture } from '../../support/fixtures.ts';
import { codesOf } from '../../support/is-intact.ts';
import { openBytes } from '../../support/sign-bytes.ts';
import { contentsOf, repack } from '../simple-zip.ts';

/** The first release whose jarsigner signs by all of them. */
const RELEASE = 17;
const folder = folderForAll();

const SHA3 = ['-sigalg', 'SHA3-256withRSA', '-digestalg', 'SHA3-256'];
/** The extension of the signature file, the kind of key for keytool, and the options for jarsigner. */
const SIGNINGS: Readonly<
  Record<string, readonly [extension: string, key: readonly string[], options: readonly string[]]>
> = {
  'an Ed25519 key': ['.EC', ['Ed25519'], []],
  'an Ed448 key': ['.EC', ['Ed448'], []],
  'an RSA key and SHA3-256': ['.RSA', ['RSA'], SHA3],
  'an EC key and SHA3-512': ['.EC', ['EC', '-groupname', 'secp256r1'], ['-sigalg', 'SHA3-512withECDSA']],
};

async function byJarsigner(): Promise<ReadonlyMap<string, Buffer>> {
  const input = join(folder, 'in.jar');
  writeFileSync(input, readFixture('jar/plain.jar'));
  const signings = Object.entries(SIGNINGS).map(([name, [, key, options]], index) => {
    const at = (file: string) => join(folder, `${index}-${file}`);
    const store = ['-keystore', at('p12'), '-storepass', STORE_PASSWORD];
    const made = ['-genkeypair', '-alias', 'test', '-dname', 'CN=Test', '-keyalg', ...key, ...store];
    execFileSync(javaProgram(mainJava(), 'keytool'), made, { stdio: 'ignore' });
    const args = [...store, ...options, '-signedjar', at('out.jar'), input, 'test'];
    return { name, output: at('out.jar'), args };
  });
  await mustJarsignAll(
    mainJava(),
    signings.map(({ args }) => args),
  );
  return new Map(signings.map(({ name, output }) => [name, readFileSync(output)]));
}

async function codes(bytes: Buffer): Promise<readonly string[]> {
  const [signature, ...others] = await (await openBytes(jar, bytes)).signatures();
  expect(others).toEqual([]);
  return codesOf(signature);
}

describe.skipIf(mainJava().release < RELEASE)('a signature of jarsigner', () => {
  let archives: ReadonlyMap<string, Buffer>;
  beforeAll(async () => {
    archives = await byJarsigner();
  });

  it.each(Object.entries(SIGNINGS))(
    'by %s is intact, until it or what it signs is changed',
    async (name, [extension]) => {
      const signed = archives.get(name) ?? expect.unreachable();
      expect(await codes(signed)).toEqual([]);

      const block = `META-INF/TEST${extension}`;
      const cms = contentsOf(signed, block);
      const otherValue = Buffer.from(cms);
      otherValue[cms.length - 8] = (cms.at(-8) ?? 0) ^ 1;
      expect(await codes(repack(signed, { [block]: otherValue }))).toEqual(['signature-value-wrong']);

      const file = 'META-INF/TEST.SF';
      const otherFile = Buffer.concat([contentsOf(signed, file), Buffer.from('Name: other\r\n\r\n')]);
      expect(await codes(repack(signed, { [file]: otherFile }))).toContain('message-digest-differs');
    },
  );
});
