/** What must never come of foreign bytes: errors without a code, bytes changed, time and memory spent on them. */

import { readFileSync } from 'node:fs';
import { CodesignError } from '../../src/errors/codesign-error.ts';
import type { Target } from './target.ts';

export const MOST_SECONDS = 2;
export const MOST_MEBIBYTES = 200;

/** Code and category of every error, from the page that is made of all tables. */
const KNOWN = new Set(
  Array.from(
    readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8').matchAll(
      /^\| (?:<a id=[^>]*><\/a>)?`(.+?)` \| (\w+) \|/gm,
    ),
    ([, code, category]) => `${code} ${category}`,
  ),
);

/** What is wrong with a case; the first line says it, and is the same for the same fault. */
export class Fault extends Error {
  override readonly name = 'Fault';
}

/** What came of work that may refuse: its result, or the code that it was rejected with. Throws every other error. */
export async function answering<T>(work: () => T | Promise<T>): Promise<{ readonly value: T } | Refused> {
  try {
    return { value: await work() };
  } catch (thrown) {
    requireCoded(thrown);
    return { code: thrown.code, error: thrown };
  }
}

export interface Refused {
  readonly code: string;
  readonly error: CodesignError;
}

/** Whether it succeeded, for work whose result is not used. */
export async function wordFor(work: () => unknown): Promise<string> {
  const answer = await answering(work);
  return 'code' in answer ? answer.code : 'good';
}

function requireCoded(thrown: unknown): asserts thrown is CodesignError {
  if (!(thrown instanceof CodesignError)) throw thrown;
  const { code, category, message, hint } = thrown;
  if (category === 'internal') throw thrown;
  if (!KNOWN.has(`${code} ${category}`)) throw new Fault(`an error whose code is in no table: ${code}`);
  for (const text of [message, hint ?? '']) requireSaid(text, code);
}

/** A sentence with a hole in it. */
export function requireSaid(text: string, where: string): void {
  if (/\bundefined\b|\bNaN\b|\[object /.test(text)) throw new Fault(`a message with a hole in it (${where}): ${text}`);
}

export function require(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Fault(otherwise);
}

export interface Verdict {
  /** The result as a word; for a fault the first line of its message. */
  readonly word: string;
  /** With where it was thrown; undefined for a case in which nothing is wrong. */
  readonly fault: string | undefined;
  readonly seconds: number;
}

/** Runs one case and holds it to all that is asked except for memory, which is the process's. */
export async function checkCase({ run }: Pick<Target, 'run'>, input: Uint8Array): Promise<Verdict> {
  const before = Buffer.from(input);
  const started = process.cpuUsage();
  let word = '';
  let fault: string | undefined;
  try {
    word = await run(input);
  } catch (thrown) {
    fault = described(thrown);
  }
  const { user, system } = process.cpuUsage(started);
  // Of the processor, not of the clock: the machine may have other work.
  const seconds = (user + system) / 1e6;
  if (fault === undefined && !before.equals(input)) fault = 'the input was changed';
  if (fault === undefined && seconds > MOST_SECONDS) fault = `more than ${MOST_SECONDS} s of processor time`;
  return { word: fault?.split('\n')[0] ?? word, fault, seconds };
}

function described(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `thrown, and no error: ${String(thrown)}`;
  const cause = thrown.cause instanceof Error ? `\nbecause of ${thrown.cause.stack}` : '';
  return `${thrown.stack ?? thrown.message}${cause}`;
}
