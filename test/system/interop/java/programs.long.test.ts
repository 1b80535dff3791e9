/** Java programs still run once they are signed, and every reader that Java has finds the signature whole, on each JDK at hand. */

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { jarsignerVerify, javaHomes, makeTruststore } from '../../../support/programs/java.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { signBytes } from '../../../unit/formats/support/sign-bytes.ts';
import { executableProgram, type JavaProgram, modularProgram, multiReleaseProgram, plainProgram } from './programs.ts';

const KINDS = {
  plain: plainProgram,
  'multi-release': multiReleaseProgram,
  modular: modularProgram,
  executable: executableProgram,
};

const folder = folderForAll();
const inFolder = (name: string) => path.join(folder, name);

const signer = await makeThrowawaySigner();
writeFileSync(inFolder('root.pem'), signer.root);
const truststore = makeTruststore(signer.root + signer.intermediate, folder);

async function signed(program: JavaProgram, name: string): Promise<string> {
  const file = inFolder(`${name}-signed.jar`);
  writeFileSync(file, (await signBytes(jar, readFileSync(program.path), signer)).result);
  chmodSync(file, 0o755);
  return file;
}

describe('a program', () => {
  it.each(Object.entries(KINDS))('runs before and after it is signed: %s', async (name, make) => {
    const program = await make(folder);
    const file = await signed(program, name);
    for (const java of javaHomes().filter(({ release }) => release >= program.since)) {
      const asExpected = { accepted: true, output: program.expected };
      expect(await program.run(java), `unsigned, Java ${java.version}`).toEqual(asExpected);
      expect(await program.run(java, file), `signed, Java ${java.version}`).toEqual(asExpected);
      expect(await jarsignerVerify(java, truststore, file), java.version).toMatchObject({ accepted: true });
    }
  });
});
