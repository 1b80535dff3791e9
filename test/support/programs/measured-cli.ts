/** The built command line as a process, with what it used: memory at its peak, and time of the processor in all its threads. */

import { type ChildProcess, fork, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CliOptions, type CliRun, REPOSITORY, runCli, temporaryFolder } from './cli.ts';

export interface Usage {
  readonly peakBytes: number;
  /** User and system. */
  readonly cpuMilliseconds: number;
  /** Read and written by system calls, from files and sockets alike. */
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Files of the built program that were loaded. */
  readonly sources: { readonly files: number; readonly bytes: number };
}

export interface MeasuredRun extends CliRun {
  readonly usage: Usage;
}

const RECORDER = join(REPOSITORY, 'test/support/programs/usage-recorder.cjs');
const QUIET: StdioOptions = ['ignore', 'ignore', 'ignore', 'ipc'];
const HOST = join(REPOSITORY, 'test/support/programs/measured-host.cjs');

/** Throws when the process did not come to its own end: killed, out of memory. */
export async function runMeasured(args: readonly string[], options: CliOptions = {}): Promise<MeasuredRun> {
  await using folder = await temporaryFolder('codesign-usage-');
  const usageFile = join(folder.path, 'usage.json');
  const env = { ...options.env, NODE_OPTIONS: `--require ${JSON.stringify(RECORDER)}`, USAGE_FILE: usageFile };
  const run = await runCli(args, { ...options, env });
  const recorded = await readFile(usageFile, 'utf8').catch(() => undefined);
  if (recorded === undefined) throw new Error(`the process left nothing behind; it said: ${run.stderr.slice(-2000)}`);
  return { ...run, usage: JSON.parse(recorded) };
}

interface Host {
  readonly child: ChildProcess;
  readonly ended: Promise<readonly undefined[]>;
  readonly env: Readonly<Record<string, string>>;
}

let host: Promise<Host> | undefined;

/**
 * The same in a process that has run others before, which saves most of a start; its memory is then not that of one run alone.
 * Undefined if the process ended with it. One at a time.
 */
export async function runInHost(args: readonly string[]): Promise<MeasuredRun | undefined> {
  host ??= startHost();
  const { child, ended, env } = await host;
  const answered = once(child, 'message');
  child.send({ args, env });
  const [run] = await Promise.race([answered, ended]);
  if (run === undefined) host = undefined;
  return run;
}

async function startHost(): Promise<Host> {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-host-'));
  const child = fork(HOST, { execArgv: ['--expose-gc'], env: { PATH: process.env.PATH }, stdio: QUIET });
  await once(child, 'message');
  child.unref();
  const env = { CODESIGN_STATE_DIR: folder, CODESIGN_CONFIG_DIR: join(folder, 'none') };
  return { child, ended: once(child, 'exit').then(() => []), env };
}
