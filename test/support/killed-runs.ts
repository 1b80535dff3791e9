/** Runs of the command line that are killed on the way and then finished, and what must hold afterwards. */

import { basename, join } from 'node:path';
import { type CliRun, parseJson, runCli, temporaryFolder } from './cli.ts';
import { judgeCalls, leftBeside } from './killed-calls.ts';
import {
  complaintsOfVerifiers,
  copyTo,
  type FileState,
  PRELOAD,
  type Subject,
  signArguments,
  stateOf,
} from './killed-subjects.ts';
import type { TestServer } from './server.ts';

/** Where a run ends: at one of its steps, perhaps in the middle of a write, or after so many milliseconds. */
export type KillPoint = { readonly step: number; readonly torn: boolean } | { readonly milliseconds: number };

/** What follows the kill, before `resume` settles the rest: the very same command, the same with --skip-signed, or nothing. */
export type Sequel = 'same' | 'skip-signed' | 'resume';

export interface Kill {
  readonly subject: Subject;
  readonly point: KillPoint;
  readonly sequel: Sequel;
  /** Where a first `resume` is killed too. */
  readonly resumePoint: KillPoint | undefined;
  /** Whether the verifiers that are not ours look at the files in the end. */
  readonly judged: boolean;
}

/** What came of it all: no faults, in the best case. */
export interface Aftermath {
  readonly faults: readonly string[];
  readonly requests: number;
  readonly reports: number;
  readonly unknown: number;
  readonly reused: number;
  /** Files that `resume` alone wrote, and kills that came before a process's own end. */
  readonly resumed: number;
  readonly killed: number;
}

type Env = Readonly<Record<string, string>>;

export async function killAndFinish(kill: Kill, server: TestServer): Promise<Aftermath> {
  const { subject, sequel, resumePoint } = kill;
  await using scratch = await temporaryFolder('codesign-kill-');
  const folder = join(scratch.path, 'files');
  const state = join(scratch.path, 'state');
  const files = await copyTo(folder, subject.originals);
  const env = { ...server.env, CODESIGN_STATE_DIR: state };
  const logged = server.log().length;
  const faults: string[] = [];
  const look = async (when: string): Promise<readonly FileState[]> => {
    const states = await Promise.all(files.map((file) => stateOf(file, subject)));
    for (const [index, found] of states.entries()) {
      if (found === 'damaged') faults.push(`${basename(files[index] ?? '')} is damaged after ${when}`);
    }
    return states;
  };

  const signing = [...signArguments(subject), ...files];
  const killed = [await runAndKill(signing, env, kill.point)];
  const before = await look('the kill');

  const again = sequel === 'resume' ? undefined : await runCli(againArguments(signing, sequel), { env });
  if (again !== undefined) {
    if (again.code !== 0) faults.push(`the second run ended with ${again.code}: ${again.stderr}${again.stdout}`);
    const unsigned = (await look('the second run')).filter((found) => found === 'original').length;
    if (unsigned > 0) faults.push(`${unsigned} files are unsigned after the second run`);
  }
  const resuming = ['resume', '--json', ...(subject.isStamped ? [] : ['--no-timestamp'])];
  if (resumePoint !== undefined) {
    killed.push(await runAndKill(resuming, env, resumePoint));
    await look('the kill of resume');
  }
  const resumed = await runCli(resuming, { env });
  const left = judgeResumed(resumed, faults);
  const after = await look('resume');

  const calls = await judgeCalls(server, logged, state, files.length);
  faults.push(...calls.faults);
  // Before its first call a run leaves no word of itself to `resume`: the next `sign` in that folder cleans up.
  const isUnheardOf = again === undefined && calls.requests + calls.unknown === 0;
  if (!isUnheardOf) faults.push(...(await leftBeside(folder)).map((name) => `${name} is left`));
  if (left !== calls.unknown) faults.push(`resume lists ${left} calls, and ${calls.unknown} are unknown`);
  const outcomes = again?.code === 0 ? parseJson(again).files : [];
  const warned = outcomes.filter((outcome) => JSON.stringify(outcome).includes('may have been counted')).length;
  if (again !== undefined && warned !== calls.unknown) faults.push(`${warned} warnings, and ${calls.unknown} unknown`);
  const signed = after.filter((found) => found === 'reference').length;
  if (signed !== calls.reports) faults.push(`${signed} files are signed, and ${calls.reports} reports say so`);
  if (kill.judged) {
    const theirs = files.filter((_, index) => after[index] === 'reference');
    if (theirs.length > 0) faults.push(...(await complaintsOfVerifiers(theirs, subject.root, scratch.path)));
  }
  return {
    ...calls,
    faults,
    reused: outcomes.filter((outcome) => 'reused' in outcome && outcome.reused === true).length,
    resumed: again === undefined ? signed - before.filter((found) => found === 'reference').length : 0,
    killed: killed.filter((wasKilled) => wasKilled).length,
  };
}

function againArguments(signing: readonly string[], sequel: Sequel): readonly string[] {
  return sequel === 'skip-signed' ? [...signing, '--skip-signed'] : signing;
}

/** How many calls the last `resume` leaves. */
function judgeResumed(run: CliRun, faults: string[]): number {
  if (run.code !== 0) faults.push(`resume ended with ${run.code}: ${run.stderr}`);
  const { calls = [] }: { readonly calls?: readonly ResumedCall[] } = run.stdout === '' ? {} : JSON.parse(run.stdout);
  for (const { kind, status } of calls) {
    if (kind !== 'unknown' && status !== 'finished') faults.push(`resume has ${status} a call that was ${kind}`);
  }
  return calls.filter(({ status }) => status !== 'finished').length;
}

interface ResumedCall {
  readonly kind: string;
  readonly status: string;
}

/** Whether it was killed before it came to its end. */
async function runAndKill(args: readonly string[], env: Env, point: KillPoint): Promise<boolean> {
  if ('milliseconds' in point) {
    let timer: NodeJS.Timeout | undefined;
    const onStart = (kill: (signal: NodeJS.Signals) => void): void => {
      timer = setTimeout(() => kill('SIGKILL'), point.milliseconds);
    };
    const { code } = await runCli(args, { env, onStart });
    clearTimeout(timer);
    return code === null;
  }
  const torn = point.torn ? { CODESIGN_KILL_TORN: 'yes' } : {};
  const stop = { NODE_OPTIONS: `--require ${PRELOAD}`, CODESIGN_KILL_AT: `${point.step}`, ...torn };
  return (await runCli(args, { env: { ...env, ...stop } })).code === null;
}
