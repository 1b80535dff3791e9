/** The whole corpus through the command line and the server on SoftHSM: one request and one report for each supported file, none for the others. */

import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type CliFileJson, parseJson, runCli, snapshot, temporaryFolder } from '../../support/programs/cli.ts';
import { jarsignerVerify, mainJava, makeTruststore } from '../../support/programs/java.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { forAll } from '../../support/set-up.ts';
import { readSpecialFiles } from './special/special-files.ts';
import { checkAll, osslsigncodeVerify, type Verdict } from './verifiers.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS ?? '';

const server = await forAll(useServer({ tsa: true }));
const root = server.roots;

interface Signed {
  readonly exitCode: number | null;
  readonly files: readonly CliFileJson[];
  readonly signRequests: readonly Readonly<Record<string, unknown>>[];
  readonly reports: readonly Readonly<Record<string, unknown>>[];
}

/** How many calls the server has logged, once no more lines come: they come a little later than the answers. */
async function logged(): Promise<readonly [sign: number, report: number]> {
  const count = () => [server.operations('sign').length, server.operations('report-sign').length] as const;
  for (let last = count(); ; ) {
    await setTimeout(300);
    const now = count();
    if (now.join() === last.join()) return now;
    last = now;
  }
}

async function signFolder(name: string, output: string): Promise<Signed> {
  const folder = path.join(corpus, name);
  const files = (await readdir(folder)).sort().map((file) => path.join(folder, file));
  const before = await logged();
  await mkdir(output);
  const result = await runCli(['sign', '--json', '--replace', '-o', output, '-'], {
    env: server.env,
    stdin: files.join('\n'),
  });
  await logged();
  return {
    exitCode: result.code,
    files: parseJson(result).files,
    signRequests: server.operations('sign').slice(before[0]),
    reports: server.operations('report-sign').slice(before[1]),
  };
}

/** What osslsigncode does not accept, timestamps included. */
async function rejected(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).sort().map((file) => path.join(folder, file));
  const verdicts = await checkAll(files, (file) => osslsigncodeVerify(root, file));
  // A bad timestamp alone does not make it refuse the file.
  const isGood = (verdict: Verdict | undefined): boolean =>
    verdict?.accepted === true && verdict.output.includes('Timestamp Server Signature verification: ok');
  return files.filter((_, index) => !isGood(verdicts[index]));
}

/**
 * One sign and one report-sign with status 1 for each signature, under the record that the program told. Files of the same
 * content share one.
 */
function expectCountedOnce({ files, signRequests, reports }: Signed): void {
  const records = new Set(files.filter(({ status }) => status === 'signed').map(({ record }) => record));
  expect(signRequests.map(({ record }) => record).sort()).toEqual([...records].sort());
  expect(new Set(reports.map(({ record }) => record))).toEqual(records);
  expect(reports.filter(({ status }) => status !== 1)).toEqual([]);
}

/** What `verify`, which wants a timestamp, finds wrong with what `sign` made. */
async function notTrusted(folder: string): Promise<string[]> {
  const { code, stdout } = await runCli([
    'verify',
    '--quiet',
    '--require-timestamp',
    '--roots',
    root,
    '--recursive',
    folder,
  ]);
  return code === 0 ? [] : stdout.split('\n');
}

/** Whether jarsigner finds the chain and the timestamp of the first JAR; jar-corpus.long.test.ts has Java read all of them. */
async function unstamped(folder: string): Promise<string[]> {
  const [file = ''] = await readdir(folder);
  const store = makeTruststore(await readFile(root, 'utf8'), path.dirname(folder));
  const { output } = await jarsignerVerify(mainJava(), store, path.join(folder, file));
  return /^jar verified\./m.test(output) && /Timestamped by ".*" on /.test(output) ? [] : [output];
}

/** File → `signed`, or the code with which it is rejected. One file of `pe` is an ELF. */
async function expectedOf(name: 'pe' | 'jar' | 'pe-special' | 'jar-special'): Promise<Record<string, string>> {
  if (name === 'pe-special' || name === 'jar-special')
    return Object.fromEntries(readSpecialFiles(name).map(({ file, code }) => [file, code ?? 'signed']));
  const files = await readdir(path.join(corpus, name));
  const isElf = async (file: string) =>
    (await readFile(path.join(corpus, name, file))).toString('latin1', 1, 4) === 'ELF';
  const expected = files.map(async (file) => [file, (await isElf(file)) ? 'unsupported-format' : 'signed'] as const);
  return Object.fromEntries(await Promise.all(expected));
}

describe.skipIf(corpus === '')('the corpus through the command line', () => {
  it.each([
    ['pe', rejected],
    ['jar', unstamped],
    ['pe-special', rejected],
    ['jar-special', unstamped],
  ] as const)(
    'signs or rejects each file of %s, with one request for each signature',
    async (name, check) => {
      await using folder = await temporaryFolder();
      const untouched = await snapshot(path.join(corpus, name));
      const output = path.join(folder.path, name);
      const result = await signFolder(name, output);
      const told = result.files.map(({ path: file, status, error }) => [path.basename(file), error?.code ?? status]);
      expect(Object.fromEntries(told)).toEqual(await expectedOf(name));
      expect(result.exitCode).toBe(told.every(([, is]) => is === 'signed') ? 0 : 6);
      expectCountedOnce(result);
      expect(await snapshot(path.join(corpus, name))).toEqual(untouched);
      expect(await check(output)).toEqual([]);
      if (!name.endsWith('special')) expect(await notTrusted(output)).toEqual([]);
    },
    600_000,
  );
});
