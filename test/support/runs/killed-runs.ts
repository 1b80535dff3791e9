/** Runs of the command line that are killed on the way and then finished, and what must hold afterwards. */

import { basename, join } from 'node:path';
import { type CliRun, parseJson, temporaryFolder } from '../programs/cli.ts';
import type { TestServer } from '../services/server.ts';
import { checkCalls, hasNotedEnd, leftBeside } from './killed-calls.ts';
import {
  complaintsOfVerifiers,
  copyTo,
  type FileState,
  type Platform,
  PRELOAD,
  type Subject,
  signArguments,
  stateOf,
  THIS_PLATFORM,
  variablesFor,
} from './killed-subjects.ts';

/** Where a run ends: at one of its steps, perhaps in the middle of a write, or by signals after so many milliseconds. */
export type KillPoint =
  | { readonly step: number; readonly torn: boolean; readonly signal?: NodeJS.Signals }
  | { readonly milliseconds: number; readonly signals?: readonly NodeJS.Signals[] };

/** What follows the kill, before `resume` settles the rest: the very same command, the same with --skip-signed, or nothing. */
export type Sequel = 'same' | 'skip-signed' | 'resume';

export interface Kill {
  readonly subject: Subject;
  readonly point: KillPoint;
  readonly sequel: Sequel;
  /** Where a first `resume` is killed too. */
  readonly resumePoint: KillPoint | undefined;
  /** Whether the verifiers that are not ours look at the files in the end. */
  readonly checked: boolean;
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
  /** Runs that ended with the exit code of a signal. */
  readonly interrupted: number;
  /** First runs that were killed when their result had been printed, and those of them that had noted their end. */
  readonly toldAndKilled: number;
  readonly noted: number;
}

type Env = Readonly<Record<string, string>>;

export async function killAndFinish(kill: Kill, server: TestServer, platform = THIS_PLATFORM): Promise<Aftermath> {
  const { subject, sequel, resumePoint } = kill;
  const each = subject.inside ?? 1 + (subject.innerPackages ?? 0);
  await using scratch = await temporaryFolder('codesign-kill-');
  const folder = join(scratch.path, 'files');
  const state = join(scratch.path, 'state');
  const files = await copyTo(folder, subject.originals);
  const env = variablesFor(platform, { ...server.env, CODESIGN_STATE_DIR: state });
  const logged = server.log().length;
  const faults: string[] = [];
  const look = async (when: string): Promise<readonly FileState[]> => {
    const states = await Promise.all(files.map((file) => stateOf(file, subject)));
    for (const [index, found] of states.entries()) {
      if (found === 'damaged') faults.push(`${basename(files[index] ?? '')} is damaged after ${when}`);
    }
    return states;
  };

  const signing = [...signArguments(subject), ...files.map(platform.path)];
  const first = await runAndKill(platform, signing, env, kill.point);
  const killed = [first.code === null];
  const before = await look('the kill');

  // After a run that came to its end the same command signs again: that is what --replace is for.
  const isTold = first.stdout.endsWith('}\n');
  const isNoted = first.code === null && isTold && hasNotedEnd(state);
  const isOver = first.code === 0 || isNoted;
  const more = sequel === 'skip-signed' || isOver ? ['--skip-signed'] : [];
  const isLeft = sequel === 'resume' || (isOver && subject.isAppended === true);
  const again = isLeft ? undefined : await platform.run([...signing, ...more], { env });
  if (again !== undefined) {
    if (again.code !== 0) faults.push(`the second run ended with ${again.code}: ${again.stderr}${again.stdout}`);
    const unsigned = (await look('the second run')).filter((found) => found === 'original').length;
    if (unsigned > 0) faults.push(`${unsigned} files are unsigned after the second run`);
  }
  const resuming = ['resume', '--json', ...(subject.isStamped ? [] : ['--no-timestamp'])];
  if (resumePoint !== undefined) {
    killed.push((await runAndKill(platform, resuming, env, resumePoint)).code === null);
    await look('the kill of resume');
  }
  const resumed = await platform.run(resuming, { env });
  const resumedCalls = checkResumed(resumed, faults);
  const left = resumedCalls.filter(({ status }) => status !== 'finished').length;
  const after = await look('resume');

  const calls = await checkCalls(server, logged, state, files.length * each);
  faults.push(...calls.faults);
  // Of a run whose calls are all over `resume` knows nothing: the next `sign` in that folder cleans up.
  const isUnheardOf = again === undefined && resumedCalls.length === 0;
  if (!isUnheardOf) faults.push(...(await leftBeside(folder)).map((name) => `${name} is left`));
  if (left !== calls.unknown) faults.push(`resume lists ${left} calls, and ${calls.unknown} are unknown`);
  const outcomes = again?.code === 0 ? parseJson(again).files : [];
  const warned = outcomes.filter((outcome) => JSON.stringify(outcome).includes('may have been counted')).length;
  if (again !== undefined && warned !== calls.unknown) faults.push(`${warned} warnings, and ${calls.unknown} unknown`);
  const signed = after.filter((found) => found === 'reference').length;
  if (signed * each !== calls.reports) faults.push(`${signed} files are signed, and ${calls.reports} reports say so`);
  if (kill.checked) {
    const theirs = files.filter((_, index) => after[index] === 'reference');
    if (theirs.length > 0) faults.push(...(await complaintsOfVerifiers(theirs, subject.root, scratch.path)));
  }
  return {
    ...calls,
    faults,
    reused: outcomes.filter((outcome) => 'reused' in outcome && outcome.reused === true).length,
    resumed: again === undefined ? signed - before.filter((found) => found === 'reference').length : 0,
    killed: killed.filter(Boolean).length,
    interrupted: first.code === 130 || first.code === 143 ? 1 : 0,
    toldAndKilled: first.code === null && isTold ? 1 : 0,
    noted: isNoted ? 1 : 0,
  };
}

function checkResumed(run: CliRun, faults: string[]): readonly ResumedCall[] {
  if (run.code !== 0) faults.push(`resume ended with ${run.code}: ${run.stderr}`);
  const { calls = [] }: { readonly calls?: readonly ResumedCall[] } = run.stdout === '' ? {} : JSON.parse(run.stdout);
  for (const { kind, status } of calls) {
    if (kind !== 'unknown' && status !== 'finished') faults.push(`resume has ${status} a call that was ${kind}`);
  }
  return calls;
}

interface ResumedCall {
  readonly kind: string;
  readonly status: string;
}

/** Its exit code is null when it was killed before it came to its end. */
async function runAndKill(platform: Platform, args: readonly string[], env: Env, point: KillPoint): Promise<CliRun> {
  if ('milliseconds' in point) {
    let timer: NodeJS.Timeout | undefined;
    const { signals = ['SIGKILL'] } = point;
    const onStart = (kill: (signal: NodeJS.Signals) => void): void => {
      timer = setTimeout(() => signals.forEach(kill), point.milliseconds);
    };
    const run = await platform.run(args, { env, onStart });
    clearTimeout(timer);
    return run;
  }
  const { step, torn, signal = 'SIGKILL' } = point;
  const how = { CODESIGN_TEST_KILL_SIGNAL: signal, ...(torn && { CODESIGN_TEST_KILL_TORN: 'yes' }) };
  const stop = { NODE_OPTIONS: `--require ${platform.path(PRELOAD)}`, CODESIGN_TEST_KILL_AT: `${step}`, ...how };
  return await platform.run(args, { env: { ...env, ...stop } });
}
