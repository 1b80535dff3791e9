/** Runs of the command line that are killed on the way and then run again, and what must hold afterwards. */

import { appendFile, copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Journal } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { observeProcesses } from '../../src/journal/processes.ts';
import { osslsigncodeVerify } from '../interop/verifiers.ts';
import { fixture, parseJson, REPOSITORY, runCli, temporaryFolder } from './cli.ts';
import { jarsignerVerify, mainJava, makeTruststore } from './java.ts';
import type { TestServer } from './server.ts';

const PRELOAD = join(REPOSITORY, 'test', 'support', 'killing-preload.cjs');

/** Where a run ends: at one of its steps, perhaps in the middle of a write, or after so many milliseconds. */
export type KillPoint = { readonly step: number; readonly torn: boolean } | { readonly milliseconds: number };

export interface Subject {
  readonly name: string;
  /** Paths of the unsigned files. */
  readonly originals: readonly string[];
  /** What each is signed, by its file name. */
  readonly references: ReadonlyMap<string, Buffer>;
  /** Steps of a run that nothing stops. */
  readonly steps: number;
  readonly milliseconds: number;
}

/** What is wrong after a run that was killed and the one after it: nothing, in the best case. */
export interface Aftermath {
  readonly faults: readonly string[];
  readonly requests: number;
  readonly unknown: number;
  readonly reused: number;
  /** Records that the service was told nothing of, and that the journal holds for a later report. */
  readonly reportsDue: number;
}

const ARGUMENTS = ['sign', '--no-timestamp', '--json'];

/** So many different programs and archives in a folder. */
export async function makeOriginals(folder: string, programs: number, archives: number): Promise<readonly string[]> {
  const paths: string[] = [];
  for (let index = 0; index < programs; index++) {
    const path = join(folder, `program-${index}.exe`);
    await copyFile(fixture('pe/hello.exe'), path);
    await appendFile(path, `${index}`.padEnd(8));
    paths.push(path);
  }
  const jars = [
    'plain',
    'stored-descriptor',
    'multi-release',
    'services',
    'manifest-lf',
    'unicode-names',
    'no-manifest',
  ];
  for (const name of [...jars, 'manifest-cr', 'manifest-sections', 'manifest-last'].slice(0, archives)) {
    const path = join(folder, `${name}.jar`);
    await copyFile(fixture(`jar/${name}.jar`), path);
    paths.push(path);
  }
  return paths;
}

/** Signs copies without a disturbance, and keeps what came out. */
export async function prepareSubject(
  name: string,
  originals: readonly string[],
  { env, data }: Pick<TestServer, 'env' | 'data'>,
): Promise<Subject> {
  await using scratch = await temporaryFolder('codesign-kill-');
  const files = await copyTo(join(scratch.path, 'files'), originals);
  const counter = join(scratch.path, 'steps');
  const started = performance.now();
  const run = await runCli([...ARGUMENTS, ...files], {
    env: { ...env, NODE_OPTIONS: `--require ${PRELOAD}`, CODESIGN_STEPS_FILE: counter },
  });
  const milliseconds = performance.now() - started;
  if (run.code !== 0) throw new Error(`the reference run of ${name} failed: ${run.stderr}`);
  const references = new Map<string, Buffer>();
  for (const file of files) references.set(basename(file), await readFile(file));
  await mustBeAccepted(files, join(data, 'service', 'certificates', 'ca.pem'), scratch.path);
  return { name, originals, references, steps: Number(await readFile(counter, 'utf8')), milliseconds };
}

/** Some of them, by this program, osslsigncode and jarsigner. */
async function mustBeAccepted(files: readonly string[], root: string, scratch: string): Promise<void> {
  const own = await runCli(['verify', '--roots', root, ...files]);
  if (own.code !== 0) throw new Error(`verify does not accept the references: ${own.stdout}`);
  const truststore = await makeTruststore(await readFile(root, 'utf8'), scratch);
  for (const file of [...files.slice(0, 3), ...files.slice(-3)]) {
    const isArchive = file.endsWith('.jar');
    const verdict = await (isArchive ? jarsignerVerify(mainJava(), truststore, file) : osslsigncodeVerify(root, file));
    if (!verdict.accepted) throw new Error(`${file} is not accepted: ${verdict.output}`);
  }
}

export async function killAndRunAgain(subject: Subject, point: KillPoint, server: TestServer): Promise<Aftermath> {
  await using scratch = await temporaryFolder('codesign-kill-');
  const folder = join(scratch.path, 'files');
  const state = join(scratch.path, 'state');
  const files = await copyTo(folder, subject.originals);
  const env = { ...server.env, CODESIGN_STATE_DIR: state };
  const signsBefore = server.operations('sign').length;
  const faults: string[] = [];

  await runCli([...ARGUMENTS, ...files], { ...killing(point), env: { ...env, ...killing(point).env } });
  for (const file of files) {
    if ((await stateOf(file, subject)) === 'damaged') faults.push(`${basename(file)} is damaged after the kill`);
  }

  const again = await runCli([...ARGUMENTS, '--skip-signed', ...files], { env });
  if (again.code !== 0) faults.push(`the second run ended with ${again.code}: ${again.stderr}`);
  for (const file of files) {
    const found = await stateOf(file, subject);
    if (found !== 'reference') faults.push(`${basename(file)} is ${found} after the second run`);
  }
  for (const left of await leftBehind(folder, state)) faults.push(`${left} is left`);
  const outcomes = again.code === 0 ? parseJson(again).files : [];
  const warned = outcomes.filter((outcome) => JSON.stringify(outcome).includes('may have been counted')).length;
  return await judgeCalls({ server, signsBefore, state, files: files.length, warned, faults, outcomes });
}

interface Calls {
  readonly server: TestServer;
  readonly signsBefore: number;
  readonly state: string;
  readonly files: number;
  /** Files whose outcome says that an earlier call may have been counted. */
  readonly warned: number;
  readonly faults: string[];
  readonly outcomes: readonly object[];
}

async function judgeCalls({ server, signsBefore, state, files, warned, faults, outcomes }: Calls): Promise<Aftermath> {
  // A call that the killed process had sent may still be at work.
  await sleep(20);
  // The server tells on a line of its own that an answer could not be sent.
  const signs = server
    .operations('sign')
    .slice(signsBefore)
    .filter(({ outcome }) => outcome !== 'not-sent');
  const journal = await (await openStateFolder(state)).unfinished();
  const unknown = journal.filter(({ kind }) => kind === 'unknown').length;
  if (unknown !== warned) faults.push(`${unknown} calls have no known outcome, and ${warned} warnings say so`);
  if (signs.length > files + unknown) {
    faults.push(`${signs.length} requests for ${files} files, ${unknown} of them unknown`);
  }
  const told = server.operations('report-sign').map(({ record, status }) => `${record} ${status}`);
  const due = journal.filter(({ kind }) => kind === 'unreported' || kind === 'unwritten').map(({ record }) => record);
  const silent = signs.map(({ record }) => String(record)).filter((record) => !told.includes(`${record} 1`));
  const lost = silent.filter((record) => !due.includes(record)).length;
  // A call killed in flight was given a signature that nobody heard of.
  if (lost > unknown)
    faults.push(`${lost} signatures were neither reported nor kept, and ${unknown} calls are unknown`);
  const reused = outcomes.filter((outcome) => 'reused' in outcome && outcome.reused === true).length;
  return { faults, requests: signs.length, unknown, reused, reportsDue: silent.length - lost };
}

/** The journal of processes that have ended. */
export async function openStateFolder(folder: string): Promise<Journal> {
  return await openJournal({
    folder,
    now: () => new Date(),
    uptime: () => performance.now(),
    randomId: () => Math.random().toString(36).slice(2).padEnd(10, '0'),
    processes: await observeProcesses(),
    keepDays: 90,
    runningFor: 0,
  });
}

function killing(point: KillPoint) {
  if ('milliseconds' in point) {
    const onStart = (kill: (signal: NodeJS.Signals) => void) =>
      void setTimeout(() => kill('SIGKILL'), point.milliseconds);
    return { env: {}, onStart };
  }
  const torn = point.torn ? { CODESIGN_KILL_TORN: 'yes' } : {};
  return { env: { NODE_OPTIONS: `--require ${PRELOAD}`, CODESIGN_KILL_AT: `${point.step}`, ...torn } };
}

async function copyTo(folder: string, originals: readonly string[]): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const copies = originals.map((path) => join(folder, basename(path)));
  for (const [index, path] of originals.entries()) await copyFile(path, copies[index] ?? '');
  return copies;
}

async function stateOf(file: string, subject: Subject): Promise<'original' | 'reference' | 'damaged'> {
  const bytes = await readFile(file);
  if (subject.references.get(basename(file))?.equals(bytes)) return 'reference';
  const original = subject.originals.find((path) => basename(path) === basename(file)) ?? '';
  return bytes.equals(await readFile(original)) ? 'original' : 'damaged';
}

/** Temporary files, beside the files and in the journal. */
async function leftBehind(folder: string, state: string): Promise<readonly string[]> {
  const names = [...(await readdir(folder)), ...(await readdir(join(state, 'calls')))];
  return names.filter((name) => name.startsWith('.'));
}
