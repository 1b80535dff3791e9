/** What `verify` and the programs that are not ours say of many files: one run for all of them wherever that can be. */

import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runCli } from '../../support/programs/cli.ts';
import { jarsignerVerifyAll, mainJava, makeTruststore, mustRunJava, runJava } from '../../support/programs/java.ts';
import { checkAll, run, wineVerify } from '../interop/verifiers.ts';
import type { OthersWord } from './table.ts';

export interface OwnVerdict {
  readonly right: string;
  readonly findings: readonly string[];
}

/** Files that the certificates of a PEM file are trusted for. */
export interface Question {
  readonly files: readonly string[];
  readonly roots: string;
}

/** Path of a file → what is said of it. */
export type Said<What> = ReadonlyMap<string, What>;

/** sigcheck.py starts openssl ten times a file: so many files make one call. */
const BATCH = 12;

interface SignatureJson {
  readonly findings: readonly FindingJson[];
  readonly timestamps: readonly { readonly findings: readonly FindingJson[] }[];
  readonly nested: readonly SignatureJson[];
}
interface FindingJson {
  readonly code: string;
  readonly against: string;
}
interface FileJson {
  readonly path: string;
  readonly verdict: string | null;
  readonly error?: { readonly code: string };
  readonly findings?: readonly FindingJson[];
  readonly signatures?: readonly SignatureJson[];
}

/** The command line's `verify`, with the roots of this PEM file. */
export async function verifyAll(files: readonly string[], roots: string): Promise<Said<OwnVerdict>> {
  const { stdout, stderr } = await runCli(['verify', '--json', '--roots', roots, '-'], { stdin: files.join('\n') });
  if (stdout === '') throw new Error(stderr);
  const said: { readonly files: readonly FileJson[] } = JSON.parse(stdout);
  return new Map(said.files.map((file) => [file.path, ownVerdict(file)]));
}

function ownVerdict({ verdict, error, findings = [], signatures = [] }: FileJson): OwnVerdict {
  const all = [...findings, ...signatures.flatMap(findingsOf)].filter(({ against }) => against !== 'nothing');
  return { right: verdict ?? error?.code ?? '', findings: [...new Set(all.map(({ code }) => code))].sort() };
}

function findingsOf({ findings, timestamps, nested }: SignatureJson): readonly FindingJson[] {
  return [...findings, ...timestamps.flatMap((timestamp) => timestamp.findings), ...nested.flatMap(findingsOf)];
}

/** Later releases download revocation lists by themselves. It accepts a file with a wrong timestamp, and reports that only in its output. */
export async function askOsslsigncode({ files, roots }: Question): Promise<Said<OthersWord>> {
  const { output: help } = await run('osslsigncode', ['verify', '--help']);
  const offline = help.includes('-ignore-crl') ? ['-ignore-crl'] : [];
  const trust = ['-CAfile', roots, '-TSA-CAfile', roots, ...offline];
  const verdicts = await checkAll(files, (file) => run('osslsigncode', ['verify', ...trust, '-in', file]));
  return new Map(
    verdicts.map(({ accepted, output }, index) => {
      const isStampless = /^Timestamp Server Signature verification: failed/m.test(output);
      return [files[index] ?? '', accepted ? (isStampless ? 'stampless' : 'yes') : 'no'];
    }),
  );
}

/** `verifiers`: the folder that has sigcheck.py. */
export async function askSigcheck({ files, roots }: Question, verifiers: string): Promise<Said<OthersWord>> {
  const checker = [path.join(verifiers, 'sigcheck.py'), '--strict', '--root', roots];
  const batches = Array.from({ length: Math.ceil(files.length / BATCH) }, (_, index) =>
    files.slice(index * BATCH, (index + 1) * BATCH),
  );
  const verdicts = await checkAll(batches, (batch) => run('python3', [...checker, ...batch]));
  const lines = verdicts.flatMap(({ output }) => output.match(/^(PASS|FAIL)\t/gm) ?? []);
  return inOrder(files, lines, (line) => line.startsWith('PASS'));
}

export interface Folders {
  /** The checks write their files here. */
  readonly folder: string;
  readonly verifiers: string;
}

export async function askWine(
  questions: readonly Question[],
  { folder, verifiers }: Folders,
): Promise<Said<OthersWord>> {
  const roots = [...new Set(questions.map((question) => question.roots))].map((pem, index) => {
    const der = path.join(folder, `root-${index}.der`);
    writeFileSync(der, new X509Certificate(readFileSync(pem)).raw);
    return der;
  });
  const files = questions.flatMap((question) => question.files);
  const verdicts = await wineVerify(files, { roots, verifiers });
  return new Map(verdicts.map(({ accepted }, index) => [files[index] ?? '', accepted ? 'yes' : 'no']));
}

/** `folder`: where the trust stores are made. */
export async function askJarsigner(questions: readonly Question[], folder: string): Promise<Said<OthersWord>> {
  const all = questions.flatMap(({ files, roots }, index) => {
    const place = path.join(folder, `trust-${index}`);
    mkdirSync(place);
    const truststore = makeTruststore(readFileSync(roots, 'utf8'), place);
    return files.map((jar) => ({ jar, truststore }));
  });
  const verdicts = await jarsignerVerifyAll(mainJava(), all);
  return new Map(verdicts.map(({ accepted }, index) => [all[index]?.jar ?? '', accepted ? 'yes' : 'no']));
}

/** java.util.jar, and PKIX below a lone root, by a program of the folder of verifiers, which takes no second root. */
export async function askJarCheck(question: Question, { folder, verifiers }: Folders): Promise<Said<OthersWord>> {
  const { files, roots } = question;
  if (!existsSync(path.join(folder, 'JarCheck.class'))) {
    await mustRunJava(mainJava(), 'javac', ['-d', folder, path.join(verifiers, 'JarCheck.java')]);
  }
  const isAlone = readFileSync(roots, 'utf8').split('-----BEGIN CERTIFICATE-----').length === 2;
  const below = isAlone ? ['-root', roots] : [];
  const { output } = await runJava(mainJava(), 'java', ['-cp', folder, 'JarCheck', ...below, ...files]);
  return inOrder(files, output.match(/^(OK|FAIL)\b.*$/gm) ?? [], (line) => line.startsWith('OK'));
}

/** A line for each file. Throws when there are more or fewer. */
function inOrder(
  files: readonly string[],
  lines: readonly string[],
  isYes: (line: string) => boolean,
): Said<OthersWord> {
  if (lines.length !== files.length) throw new Error(`${lines.length} verdicts on ${files.length} files`);
  return new Map(files.map((file, index) => [file, isYes(lines[index] ?? '') ? 'yes' : 'no']));
}
