/** What `verify` and the programs that are not ours say of many files: one run for all of them wherever that can be. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runCli } from '../../support/programs/cli.ts';
import { jarsignerVerifyAll, mainJava, makeTruststore, mustRunJava, runJava } from '../../support/programs/java.ts';
import { checkAll, run } from '../interop/verifiers.ts';
import type { OthersWord } from './table.ts';

export interface OwnVerdict {
  readonly right: string;
  readonly findings: readonly string[];
}

/** Path of a file → what is said of it. */
export type Said<What> = ReadonlyMap<string, What>;

/** sigcheck.py starts openssl ten times a file: so many files make one call. */
const BATCH = 12;
export const WINE = '/usr/lib/wine/wine64';

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
export async function askOsslsigncode(files: readonly string[], roots: string): Promise<Said<OthersWord>> {
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
export async function askSigcheck(
  files: readonly string[],
  roots: string,
  verifiers: string,
): Promise<Said<OthersWord>> {
  const batches = Array.from({ length: Math.ceil(files.length / BATCH) }, (_, index) =>
    files.slice(index * BATCH, (index + 1) * BATCH),
  );
  const checker = [path.join(verifiers, 'sigcheck.py'), '--strict', '--root', roots];
  const verdicts = await checkAll(batches, (batch) => run('python3', [...checker, ...batch]));
  const lines = verdicts.flatMap(({ output }) => output.match(/^(PASS|FAIL)\t/gm) ?? []);
  return inOrder(files, lines, (line) => line.startsWith('PASS'));
}

export interface WineFolder {
  /** Keeps Wine's prefix, which takes the longest to make: every root that was ever given stays trusted in it. */
  readonly folder: string;
  readonly verifiers: string;
}

/** WinVerifyTrust and the chain, as Wine has them; it does not examine timestamps. */
export async function askWine(
  files: readonly string[],
  root: string,
  { folder, verifiers }: WineFolder,
): Promise<Said<OthersWord>> {
  const der = path.join(folder, 'root.der');
  await run('openssl', ['x509', '-in', root, '-outform', 'DER', '-out', der]);
  const environment = { WVT_ROOT: der, WVT_PREFIX: path.join(folder, 'prefix'), WVT_EXE: path.join(folder, 'wvt.exe') };
  const limited = { ...environment, WVT_TIMEOUT: '400' };
  const { output } = await run('bash', [path.join(verifiers, 'wvt.sh'), ...files], limited);
  return inOrder(files, output.match(/VERDICT=.*/g) ?? [], (line) => line === 'VERDICT=TRUSTED');
}

/** `folder`: where the trust store is made. */
export async function askJarsigner(files: readonly string[], root: string, folder: string): Promise<Said<OthersWord>> {
  mkdirSync(folder);
  const verdicts = await jarsignerVerifyAll(mainJava(), makeTruststore(root, folder), files);
  return new Map(verdicts.map(({ accepted }, index) => [files[index] ?? '', accepted ? 'yes' : 'no']));
}

/** java.util.jar, and PKIX below a lone root, by a program of the folder of verifiers, which takes no second root. */
export async function askJarCheck(
  files: readonly string[],
  root: string,
  { folder, verifiers }: WineFolder,
): Promise<Said<OthersWord>> {
  const pem = path.join(folder, 'jar-check-root.pem');
  writeFileSync(pem, root);
  if (!existsSync(path.join(folder, 'JarCheck.class'))) {
    await mustRunJava(mainJava(), 'javac', ['-d', folder, path.join(verifiers, 'JarCheck.java')]);
  }
  const isAlone = root.split('-----BEGIN CERTIFICATE-----').length === 2;
  const below = isAlone ? ['-root', pem] : [];
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
