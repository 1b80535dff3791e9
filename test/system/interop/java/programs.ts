/**
 * Java programs, one of each kind that signing could break, made again with javac and jar. Tests run them before and after
 * signing: `run` takes the path of any copy.
 */

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type JavaHome, javaProgram, mainJava, mustRunJava, runJar, runJava } from '../../../support/programs/java.ts';
import { run, type Verdict } from '../verifiers.ts';

export interface JavaProgram {
  readonly path: string;
  /** The first Java release that runs it so. */
  readonly since: number;
  /** What it prints when it runs as it should. */
  readonly expected: string;
  /** Runs this program, or its copy at `path`, which must end in .jar for the module path. */
  run(java: JavaHome, path?: string): Promise<Verdict>;
}

const PRINTS = (className: string, expression: string) =>
  `public class ${className} { public static void main(String[] args) { System.out.println(${expression}); } }\n`;

export async function plainProgram(folder: string): Promise<JavaProgram> {
  const root = newFolder(folder, 'plain');
  await compile(root, 'classes', 8, { 'Plain.java': PRINTS('Plain', '"plain"') });
  const file = await pack(root, 'plain.jar', ['--main-class', 'Plain', '-C', path.join(root, 'classes'), '.']);
  return { path: file, since: 8, expected: 'plain\n', run: (java, copy = file) => runJar(java, copy) };
}

/** Its newer half in META-INF/versions runs on Java 11 and later. */
export async function multiReleaseProgram(folder: string): Promise<JavaProgram> {
  const root = newFolder(folder, 'multi-release');
  const version = (name: string) => `class Version { static final String name() { return "${name}"; } }\n`;
  const main = PRINTS('Main', '"made for Java " + Version.name()');
  await compile(root, 'base', 8, { 'Main.java': main, 'Version.java': version('8') });
  await compile(root, 'newer', 11, { 'Version.java': version('11') });
  const base = ['--main-class', 'Main', '-C', path.join(root, 'base'), '.'];
  const newer = ['--release', '11', '-C', path.join(root, 'newer'), '.'];
  const file = await pack(root, 'multi-release.jar', [...base, ...newer]);
  return { path: file, since: 11, expected: 'made for Java 11\n', run: (java, copy = file) => runJar(java, copy) };
}

/** Started from the module path, and says which module it is. */
export async function modularProgram(folder: string): Promise<JavaProgram> {
  const root = newFolder(folder, 'modular');
  await compile(root, 'classes', 11, {
    'module-info.java': 'module test.modular { exports test.modular; }\n',
    'test/modular/Main.java': `package test.modular;\n${PRINTS('Main', '"module " + Main.class.getModule().getName()')}`,
  });
  const file = await pack(root, 'modular.jar', ['--module-version', '1.0', '-C', path.join(root, 'classes'), '.']);
  return {
    path: file,
    since: 11,
    expected: 'module test.modular\n',
    run: (java, copy = file) => runJava(java, 'java', ['-p', copy, '-m', 'test.modular/test.modular.Main']),
  };
}

/** A shell script with the JAR behind it: the file itself is started, as `./app`. */
export async function executableProgram(folder: string): Promise<JavaProgram> {
  const root = newFolder(folder, 'executable');
  await compile(root, 'classes', 8, { 'App.java': PRINTS('App', '"app"') });
  const jar = await pack(root, 'app.jar', ['--main-class', 'App', '-C', path.join(root, 'classes'), '.']);
  // Only under the name of a JAR may a script stand in front of the archive.
  const file = path.join(root, 'executable.jar');
  writeFileSync(file, Buffer.concat([Buffer.from('#!/bin/sh\nexec "$JAVA" -jar "$0" "$@"\n'), readFileSync(jar)]));
  chmodSync(file, 0o755);
  return { path: file, since: 8, expected: 'app\n', run: (java, copy = file) => runScript(java, copy) };
}

/** Starts the file itself. One that is no script is not started: a shell would take its bytes for commands. */
async function runScript(java: JavaHome, file: string): Promise<Verdict> {
  if (!readFileSync(file, 'latin1').startsWith('#!')) return { accepted: false, output: 'not a script' };
  return run(file, [], { JAVA: javaProgram(java, 'java') });
}

function newFolder(parent: string, name: string): string {
  const folder = path.join(parent, name);
  mkdirSync(folder);
  return folder;
}

/** Compiles for that Java release into a folder under `root`. */
async function compile(root: string, into: string, release: number, sources: Readonly<Record<string, string>>) {
  const files = Object.entries(sources).map(([name, text]) => {
    const file = path.join(root, `${into}-source`, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  });
  const options = ['--release', `${release}`, '-Xlint:-options', '-d', path.join(root, into)];
  await mustRunJava(mainJava(), 'javac', [...options, ...files]);
}

async function pack(root: string, name: string, args: readonly string[]): Promise<string> {
  const file = path.join(root, name);
  await mustRunJava(mainJava(), 'jar', ['--create', '--file', file, ...args]);
  return file;
}
