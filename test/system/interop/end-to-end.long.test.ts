/** The whole corpus through the command line and the server on SoftHSM: one request and one report for each supported file, none for the others. */

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type CliFileJson, parseJson, runCli, snapshot, temporaryFolder } from '../../support/programs/cli.ts';
import { jarsignerVerify, mainJava, makeTruststore } from '../../support/programs/java.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { forAll } from '../../support/set-up.ts';
import { readAsArchives } from './java/readers.ts';
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

/** What is wrong with signed JARs to Java's reader: files that are not signed, chains that do not lead to the root. */
async function wrongJars(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).sort().map((file) => path.join(folder, file));
  const readings = await readAsArchives(mainJava(), files, { root });
  const wrong = readings.filter(
    ({ hasManifest, entries, signers, failures, chains }) =>
      !hasManifest ||
      signers.size !== entries ||
      failures.length > 0 ||
      [...chains.values()].some((is) => is !== 'good'),
  );
  return wrong.map((reading) => JSON.stringify(reading));
}

describe.skipIf(corpus === '')('the corpus through the command line', () => {
  it('signs every PE of pe, and requests nothing else', { timeout: 600_000 }, async () => {
    await using folder = await temporaryFolder();
    const untouched = await snapshot(path.join(corpus, 'pe'));
    const output = path.join(folder.path, 'pe');
    const result = await signFolder('pe', output);
    const others = result.files.filter(({ status }) => status !== 'signed');
    expect(others.map(({ error }) => error?.code)).toEqual(['unsupported-format']);
    expect(result.files).toHaveLength(102);
    expect(result.exitCode).toBe(6);
    expectCountedOnce(result);
    expect(await snapshot(path.join(corpus, 'pe'))).toEqual(untouched);
    expect(await rejected(output)).toEqual([]);
    expect(await notTrusted(output)).toEqual([]);
  });

  it('signs every JAR of jar', { timeout: 600_000 }, async () => {
    await using folder = await temporaryFolder();
    const untouched = await snapshot(path.join(corpus, 'jar'));
    const output = path.join(folder.path, 'jar');
    const result = await signFolder('jar', output);
    expect(result.files.filter(({ status }) => status !== 'signed')).toEqual([]);
    expect(result.files).toHaveLength(58);
    expect(result.exitCode).toBe(0);
    expectCountedOnce(result);
    expect(await snapshot(path.join(corpus, 'jar'))).toEqual(untouched);
    expect(await wrongJars(output)).toEqual([]);
    expect(await notTrusted(output)).toEqual([]);
    const [first = ''] = await readdir(output);
    const store = makeTruststore(await readFile(root, 'utf8'), folder.path);
    const said = await jarsignerVerify(mainJava(), store, path.join(output, first));
    expect(said).toMatchObject({ accepted: true, output: expect.stringMatching(/Timestamped by ".*" on /) });
  });

  it.each([
    ['pe-special', rejected],
    ['jar-special', wrongJars],
  ] as const)('signs or rejects each file of %s as the table says', { timeout: 600_000 }, async (name, check) => {
    await using folder = await temporaryFolder();
    const untouched = await snapshot(path.join(corpus, name));
    const output = path.join(folder.path, 'special');
    const result = await signFolder(name, output);
    const told = result.files.map(({ path: file, status, error }) => [path.basename(file), error?.code ?? status]);
    const expected = readSpecialFiles(name).map(({ file, code }) => [file, code ?? 'signed']);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(expected));
    expectCountedOnce(result);
    expect(await snapshot(path.join(corpus, name))).toEqual(untouched);
    expect(await check(output)).toEqual([]);
  });

  it.each(['pe-special', 'jar-special'] as const)(
    'sends no request when all is rejected, and leaves it as it was: %s',
    async (name) => {
      await using folder = await temporaryFolder();
      const refused = readSpecialFiles(name).filter(({ result }) => result === 'refused');
      const files = refused.map(({ file }) => path.join(folder.path, file));
      // In place, so they must be writable, which the corpus need not be.
      for (const file of files) await writeFile(file, await readFile(path.join(corpus, name, path.basename(file))));
      const untouched = await snapshot(folder.path);
      const asked = () => [...server.operations('sign'), ...server.operations('report-sign')];
      const before = asked();
      const result = await runCli(['sign', '--json', ...files], { env: server.env });
      expect(parseJson(result).files.map(({ error }) => error?.code)).toEqual(refused.map(({ code }) => code));
      expect(result.code).toBe(6);
      expect(asked()).toEqual(before);
      expect(await snapshot(folder.path)).toEqual(untouched);
    },
  );
});
