/** Java programs of each kind that signing could break: they still run once they are signed, on each JDK at hand. */

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import {
  type JavaHome,
  jarsignerVerify,
  javaHomes,
  javaProgram,
  mainJava,
  makeTruststore,
  mustRunJava,
  runJava,
} from '../../../support/programs/java.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { signBytes } from '../../../unit/formats/support/sign-bytes.ts';
import { run, type Verdict } from '../verifiers.ts';

type Sources = Readonly<Record<string, string>>;

interface Kind {
  /** The first Java release that runs it so. */
  readonly since: number;
  readonly prints: string;
  /** Makes `program.jar` in the folder. */
  make(root: string): Promise<void>;
  readonly run: (java: JavaHome, file: string) => Promise<Verdict>;
}

const printing = (expression: string) =>
  `public class Main { public static void main(String[] args) { System.out.println(${expression}); } }\n`;
const version = (name: string) => `class Version { static final String name() { return "${name}"; } }\n`;
const OF_MAIN = ['--main-class', 'Main'];
const runJar: Kind['run'] = (java, file) => runJava(java, 'java', ['-jar', file]);

const KINDS: Readonly<Record<string, Kind>> = {
  plain: {
    since: 8,
    prints: 'plain\n',
    make: (root) => pack(root, { 'Main.java': printing('"plain"') }),
    run: runJar,
  },
  // Its newer half in META-INF/versions runs on Java 11 and later.
  'multi-release': {
    since: 11,
    prints: 'made for Java 11\n',
    async make(root) {
      const newer = await compile(root, 'newer', 11, { 'Version.java': version('11') });
      const sources = { 'Main.java': printing('"made for Java " + Version.name()'), 'Version.java': version('8') };
      await pack(root, sources, { more: ['--release', '11', '-C', newer, '.'] });
    },
    run: runJar,
  },
  modular: {
    since: 11,
    prints: 'module test.modular\n',
    async make(root) {
      const main = `package test.modular;\n${printing('"module " + Main.class.getModule().getName()')}`;
      const module = 'module test.modular { exports test.modular; }\n';
      const sources = { 'module-info.java': module, 'test/modular/Main.java': main };
      await pack(root, sources, { release: 11, options: ['--module-version', '1.0'] });
    },
    run: (java, file) => runJava(java, 'java', ['-p', file, '-m', 'test.modular/test.modular.Main']),
  },
  // A shell script with the JAR behind it: the file itself is started.
  executable: {
    since: 8,
    prints: 'app\n',
    async make(root) {
      await pack(root, { 'Main.java': printing('"app"') });
      const file = path.join(root, 'program.jar');
      writeFileSync(file, Buffer.concat([Buffer.from('#!/bin/sh\nexec "$JAVA" -jar "$0" "$@"\n'), readFileSync(file)]));
    },
    async run(java, file) {
      // A shell would execute the bytes of a program that is not a script as commands.
      expect(readFileSync(file, 'latin1').slice(0, 2)).toBe('#!');
      chmodSync(file, 0o755);
      return run(file, [], { JAVA: javaProgram(java, 'java') });
    },
  },
};

const folder = folderForAll();
const signer = await makeThrowawaySigner();
const truststore = makeTruststore(signer.root + signer.intermediate, folder);

it.each(Object.entries(KINDS))('a program runs before and after it is signed: %s', async (name, kind) => {
  const root = path.join(folder, name);
  mkdirSync(root);
  await kind.make(root);
  const [unsigned, signed] = [path.join(root, 'program.jar'), path.join(root, 'signed.jar')];
  writeFileSync(signed, (await signBytes(jar, readFileSync(unsigned), signer)).result);
  for (const java of javaHomes().filter(({ release }) => release >= kind.since)) {
    const asExpected = { accepted: true, output: kind.prints };
    expect(await kind.run(java, unsigned), `unsigned, Java ${java.version}`).toEqual(asExpected);
    expect(await kind.run(java, signed), `signed, Java ${java.version}`).toEqual(asExpected);
    expect(await jarsignerVerify(java, truststore, signed), java.version).toMatchObject({ accepted: true });
  }
});

/** Compiles for that Java release into a folder under `root`. @returns the folder */
async function compile(root: string, into: string, release: number, sources: Sources): Promise<string> {
  const files = Object.entries(sources).map(([name, text]) => {
    const file = path.join(root, `${into}-source`, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  });
  const classes = path.join(root, into);
  await mustRunJava(mainJava(), 'javac', ['--release', `${release}`, '-Xlint:-options', '-d', classes, ...files]);
  return classes;
}

async function pack(root: string, sources: Sources, { release = 8, options = OF_MAIN, more = [] as string[] } = {}) {
  const classes = await compile(root, 'classes', release, sources);
  const file = ['--create', '--file', path.join(root, 'program.jar')];
  await mustRunJava(mainJava(), 'jar', [...file, ...options, '-C', classes, '.', ...more]);
}
