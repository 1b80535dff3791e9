/** Java programs still run once they are signed, and every reader that Java has finds the signature whole, on each JDK at hand. */

import { chmodSync, copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { jarsignerVerify, javaHomes, mainJava, makeTruststore, mustRunJava } from '../../../support/programs/java.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { signBytes } from '../../../unit/formats/support/sign-bytes.ts';
import { executableProgram, type JavaProgram, modularProgram, multiReleaseProgram, plainProgram } from './programs.ts';
import { readAsArchives, readAsStreams } from './readers.ts';

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

describe('the readers', () => {
  /** Signed, and what others make of it: an entry changed, an entry added. */
  let good: string;
  let changed: string;
  let extended: string;
  let unsigned: string;

  beforeAll(async () => {
    const program = await plainProgram(mkdtempSync(inFolder('readers-')));
    unsigned = program.path;
    good = await signed(program, 'good');
    changed = await updated(good, 'Plain.class');
    extended = await updated(good, 'added.txt');
  });

  /** A copy of the signed JAR with this file in it, its signature left as it is. */
  async function updated(file: string, entry: string): Promise<string> {
    const copy = `${file}-${entry}.jar`;
    copyFileSync(file, copy);
    writeFileSync(inFolder(entry), 'another content');
    await mustRunJava(mainJava(), 'jar', ['--update', '--file', copy, '-C', folder, entry]);
    return copy;
  }

  it.each(['archives', 'streams'])('say which entries are signed, by whom, and what is wrong: as %s', async (how) => {
    const read = how === 'archives' ? readAsArchives : readAsStreams;
    const readings = await read(mainJava(), [good, changed, extended, unsigned, inFolder('missing.jar')]);
    const signers = new Map([['Plain.class', ['Test Publisher']]]);
    const whole = { hasManifest: true, entries: 1, unsigned: [], failures: [] };
    expect(readings[0]).toMatchObject({ ...whole, jar: good, signers });
    const failure = expect.stringMatching(/^Plain\.class java\.lang\.SecurityException SHA-256 digest error/);
    expect(readings[1]).toMatchObject({ signers: new Map(), failures: [failure] });
    expect(readings[2]).toMatchObject({ ...whole, entries: 2, unsigned: ['added.txt'], signers });
    expect(readings[3]).toMatchObject({ ...whole, unsigned: ['Plain.class'], signers: new Map() });
    expect(readings[4]).toMatchObject({
      hasManifest: false,
      entries: 0,
      failures: [expect.stringContaining('missing.jar')],
    });
  });
});
