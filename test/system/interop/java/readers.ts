/** Has Java's own readers check JARs, many in one JVM: front to back (JarInputStream), and by the directory (JarFile). */

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { madeOnce } from '../../../support/made-once.ts';
import { type JavaHome, mainJava, mustRunJava } from '../../../support/programs/java.ts';

type Reading = ReturnType<typeof readingOf>;

const SOURCES = fileURLToPath(new URL('.', import.meta.url));

/** As java.util.jar.JarInputStream reads it, which needs the manifest and the signatures at the front. */
export function readAsStreams(java: JavaHome, jars: readonly string[]): Promise<Reading[]> {
  return read(java, 'StreamReader', jars);
}

/** As java.util.jar.JarFile reads it. With `root`, a PEM file, each signer's chain is checked too. */
export function readAsArchives(
  java: JavaHome,
  jars: readonly string[],
  { root }: { readonly root?: string } = {},
): Promise<Reading[]> {
  return read(java, 'ArchiveReader', jars, root === undefined ? [] : ['-root', root]);
}

/** The lines of the first reader are a subset of the lines of the second. */
async function read(
  java: JavaHome,
  reader: string,
  jars: readonly string[],
  options: readonly string[] = [],
): Promise<Reading[]> {
  if (jars.length === 0) return [];
  const output = await runReader(java, [reader, ...options, ...jars]);
  const lines = output.split('\n').filter((line) => line !== '');
  const facts = lines.map((line) => line.split('\t').map(unescaped));
  return jars.map((jar) => readingOf(jar, facts));
}

function readingOf(jar: string, facts: readonly (readonly string[])[]) {
  const about = (what: string) =>
    facts.filter((fact) => fact[0] === jar && fact[1] === what).map((fact) => fact.slice(2));
  const pairs = (what: string) => new Map(about(what).map(([key = '', value = '']) => [key, value]));
  const [entries] = about('entries');
  if (entries === undefined) throw new Error(`the reader said nothing of ${jar}`);
  return {
    jar,
    hasManifest: about('manifest').some(([word]) => word === 'found'),
    /** How many entries a signature must cover. */
    entries: Number(entries[0]),
    /** The entries that no signature covers. */
    unsigned: about('unsigned').map(([entry = '']) => entry),
    /** The signers' common names, in order, by the signed entry. */
    signers: new Map(about('signed').map(([entry = '', ...names]) => [entry, names])),
    /** The errors, each with its entry. */
    failures: about('failed').map((words) => words.join(' ').trim()),
    /** The manifest's main attributes as Java understands them. */
    attributes: pairs('attribute'),
    /** `good` for each signer, or what is wrong with the chain. Empty unless a root was given. */
    chains: pairs('chain'),
  };
}

function unescaped(value: string): string {
  const meaning: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };
  return value.replace(/\\(.)/g, (_, letter: string) => meaning[letter] ?? letter);
}

/** Runs one of the Java programs in this folder: its name and its arguments, behind options of Java. */
export async function runReader(java: JavaHome, args: readonly string[]): Promise<string> {
  return mustRunJava(java, 'java', ['-cp', await classes(), ...args]);
}

/** The readers as classes that Java 8 and later run, compiled once in a run of the tests. @returns the class path */
function classes(): Promise<string> {
  return madeOnce('java-classes', async (folder) => {
    const sources = readdirSync(SOURCES).filter((name) => name.endsWith('.java'));
    const options = ['--release', '8', '-Xlint:-options', '-encoding', 'UTF-8', '-d', folder];
    await mustRunJava(mainJava(), 'javac', [...options, ...sources.map((name) => path.join(SOURCES, name))]);
  });
}
