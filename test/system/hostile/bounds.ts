/** What holds of every command on every file: an answer as documented, in bounded time and memory, and never a fault of the program. */

import { expect } from 'vitest';
import type { CliRun } from '../../support/programs/cli.ts';
import { type MeasuredRun, runMeasured } from '../../support/programs/measured-cli.ts';

const MEBIBYTE = 1024 * 1024;
export const MOST_MEMORY = 150 * MEBIBYTE;
/** How many times the work of verifying a file of 2 KB a hostile one may cost: 1.4 s where that takes 0.14 s. */
export const MOST_TIMES = 10;

/** What the processor needs for next to nothing, on this machine and now: the yardstick of all the rest. */
export async function measureTrivial(file: string): Promise<number> {
  const runs = [await runMeasured(['verify', file]), await runMeasured(['verify', file])];
  return Math.max(...runs.map(({ usage }) => usage.cpuMilliseconds));
}

/** The program neither crashed nor printed what a terminal would act on. */
export function expectSane({ code, stdout, stderr }: CliRun, exitCodes: readonly number[]): void {
  const said = stderr.slice(0, 10_000);
  expect([code, said]).toEqual([expect.toSatisfy((one) => exitCodes.includes(one)), said]);
  expect(said).not.toMatch(/\[internal\]|unexpected error|\n\s+at .*:\d+:\d+/);
  expect(stdout.slice(0, 1_000_000)).not.toMatch(/"code": "internal"/);
}

/** `times`: how many times the work of a trivial file. */
export interface Bounds {
  readonly times: number;
  readonly bytes: number;
}

export function expectBounded(
  { usage }: MeasuredRun,
  trivialMilliseconds: number,
  { times, bytes }: Bounds = { times: MOST_TIMES, bytes: MOST_MEMORY },
): void {
  expect(usage.peakBytes / MEBIBYTE).toBeLessThan(bytes / MEBIBYTE);
  expect(usage.cpuMilliseconds).toBeLessThan(trivialMilliseconds * times);
}
