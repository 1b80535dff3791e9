/** The built command line as a process, with what it used: memory at its peak, and time of the processor in all its threads. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CliOptions, type CliRun, REPOSITORY, runCli, temporaryFolder } from './cli.ts';

export interface Usage {
  readonly peakBytes: number;
  /** User and system. */
  readonly cpuMilliseconds: number;
}

export interface MeasuredRun extends CliRun {
  readonly usage: Usage;
}

const RECORDER = join(REPOSITORY, 'test/support/programs/usage-recorder.cjs');

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
