/** What holds of every command on every file: an answer as documented, in bounded time and memory, and never a fault of the program. */

import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { lazy } from '../../../src/bytes/reuse.ts';
import type { CliRun } from '../../support/programs/cli.ts';
import { type MeasuredRun, runInHost, runMeasured } from '../../support/programs/measured-cli.ts';

const MEBIBYTE = 1024 * 1024;

/** `times`: how many times the work of the yardstick. */
export interface Bounds {
  readonly times: number;
  readonly bytes: number;
}

/** 3 s where the yardstick takes 0.3 s. */
export const USUAL_BOUNDS: Bounds = { times: 10, bytes: 150 * MEBIBYTE };
/** Bounds that hold for every file of less than 20 MB. */
export const LARGEST_BOUNDS: Bounds = { times: 35, bytes: 300 * MEBIBYTE };

/**
 * What the processor needs for a fixed piece of work, on this machine and now, in milliseconds: the yardstick of all the rest,
 * which does not change with the program. Digests, texts and a table of them, as in most of what a command does.
 */
function measureYardstick(): number {
  const before = process.cpuUsage();
  createHash('sha256')
    .update(Buffer.alloc(64 * MEBIBYTE))
    .digest();
  const words = Array.from({ length: 120_000 }, (_, index) => String((index * 7919) % 120_011));
  new Map(words.sort().map((word, index) => [word, index]));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const yardstickAtFirst = lazy(measureYardstick);

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
  const isWithin = hosted !== undefined && excessOf(hosted, yardstickAtFirst(), bounds).length === 0;
  const run = isWithin ? hosted : await runMeasured(args);
  expectSane(run, exitCodes);
  if (!isWithin) expectBounded(run, bounds);
  return run;
}

/** What exceeds them next to the first measure of the yardstick is held to a new one. */
export function expectBounded(run: MeasuredRun, bounds = USUAL_BOUNDS): void {
  if (excessOf(run, yardstickAtFirst(), bounds).length === 0) return;
  expect(excessOf(run, measureYardstick(), bounds)).toEqual([]);
}

function excessOf({ usage }: MeasuredRun, yardstick: number, { times, bytes }: Bounds): string[] {
  const memory = `${(usage.peakBytes / MEBIBYTE).toFixed()} MiB of ${(bytes / MEBIBYTE).toFixed()}`;
  const time = `${usage.cpuMilliseconds.toFixed()} ms of ${(yardstick * times).toFixed()}`;
  return [...(usage.peakBytes < bytes ? [] : [memory]), ...(usage.cpuMilliseconds < yardstick * times ? [] : [time])];
}

/** The program neither crashed nor printed what a terminal would act on. */
export function expectSane({ code, stdout, stderr }: CliRun, exitCodes: readonly number[]): void {
  const said = stderr.slice(0, 10_000);
  expect([code, said]).toEqual([expect.toSatisfy((one) => exitCodes.includes(one)), said]);
  expect(said).not.toMatch(/\[internal\]|unexpected error|\n\s+at .*:\d+:\d+/);
  expect(stdout.slice(0, 1_000_000)).not.toMatch(/"code": "internal"/);
}
