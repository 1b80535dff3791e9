/** What holds of every command on every file: an answer as documented, in bounded time and memory, and never a fault of the program. */

import { expect } from 'vitest';
import { onceOf } from '../../../src/bytes/reuse.ts';
import { type CliRun, fixture } from '../../support/programs/cli.ts';
import { type MeasuredRun, runInHost, runMeasured } from '../../support/programs/measured-cli.ts';

const MEBIBYTE = 1024 * 1024;

/** `times`: how many times the work of a trivial file. */
export interface Bounds {
  readonly times: number;
  readonly bytes: number;
}

/** Ten times the work of verifying a file of 2 KB: 1.4 s where that takes 0.14 s. */
export const USUAL_BOUNDS: Bounds = { times: 10, bytes: 150 * MEBIBYTE };

/** What the processor needs for next to nothing, on this machine and now, in milliseconds: the yardstick of all the rest. */
async function measureTrivial(): Promise<number> {
  const args = ['verify', fixture('golden/sha256-rsa2048.exe')];
  const runs = [await runMeasured(args), await runMeasured(args)];
  return Math.max(...runs.map(({ usage }) => usage.cpuMilliseconds));
}

const trivialAtFirst = onceOf(measureTrivial);

/**
 * Runs the command in a process that ran others before. What exceeds its bounds there runs again in a process of its own, which
 * decides. What may take long runs there at once: next to what others left behind, it would often run twice.
 */
export async function runBounded(
  args: readonly string[],
  exitCodes: readonly number[],
  bounds = USUAL_BOUNDS,
): Promise<CliRun> {
  const hosted = bounds.times > USUAL_BOUNDS.times ? undefined : await runInHost(args);
  const isWithin = hosted !== undefined && excessOf(hosted, await trivialAtFirst(), bounds).length === 0;
  const run = isWithin ? hosted : await runMeasured(args);
  expectSane(run, exitCodes);
  if (!isWithin) await expectBounded(run, bounds);
  return run;
}

/** What exceeds them next to the first measure of the yardstick is held to a new one. */
export async function expectBounded(run: MeasuredRun, bounds = USUAL_BOUNDS): Promise<void> {
  if (excessOf(run, await trivialAtFirst(), bounds).length === 0) return;
  expect(excessOf(run, await measureTrivial(), bounds)).toEqual([]);
}

function excessOf({ usage }: MeasuredRun, trivial: number, { times, bytes }: Bounds): string[] {
  const memory = `${(usage.peakBytes / MEBIBYTE).toFixed()} MiB of ${(bytes / MEBIBYTE).toFixed()}`;
  const time = `${usage.cpuMilliseconds.toFixed()} ms of ${(trivial * times).toFixed()}`;
  return [...(usage.peakBytes < bytes ? [] : [memory]), ...(usage.cpuMilliseconds < trivial * times ? [] : [time])];
}

/** The program neither crashed nor printed what a terminal would act on. */
export function expectSane({ code, stdout, stderr }: CliRun, exitCodes: readonly number[]): void {
  const said = stderr.slice(0, 10_000);
  expect([code, said]).toEqual([expect.toSatisfy((one) => exitCodes.includes(one)), said]);
  expect(said).not.toMatch(/\[internal\]|unexpected error|\n\s+at .*:\d+:\d+/);
  expect(stdout.slice(0, 1_000_000)).not.toMatch(/"code": "internal"/);
}
