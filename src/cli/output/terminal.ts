import type { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';

type Env = Readonly<Record<string, string | undefined>>;

export const LEAST_LIVE_COLUMNS = 20;

export function isTerminal(stream: Writable): stream is WriteStream {
  return 'isTTY' in stream && stream.isTTY === true;
}

/** Returns 0 if the width is unknown, or without a terminal. */
export function columnsOf(stream: Writable): number {
  return isTerminal(stream) ? (stream.columns ?? 0) : 0;
}

const DEFAULT_COLUMNS = 80;

/** Infinite for a pipe or a file, because other programs read whole lines. */
export function lineColumns(stream: Writable): number {
  return isTerminal(stream) ? columnsOf(stream) || DEFAULT_COLUMNS : Number.POSITIVE_INFINITY;
}

/** A pager may show standard output on the terminal of standard error. */
export function pageColumns({ stdout, stderr }: { readonly stdout: Writable; readonly stderr: Writable }): number {
  return columnsOf(stdout) || columnsOf(stderr) || DEFAULT_COLUMNS;
}

export function isDumb({ TERM }: Env): boolean {
  return TERM === 'dumb';
}

/** Most CI services set at least one of these variables. */
export function isContinuousIntegration({ CI, GITHUB_ACTIONS }: Env): boolean {
  return isSet(CI) || isSet(GITHUB_ACTIONS);
}

/** See https://no-color.org. */
export function hasColour(stream: Writable, env: Env): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return isSet(env.FORCE_COLOR);
  return isTerminal(stream) && !isDumb(env) && !isContinuousIntegration(env);
}

/** A Windows console may have any code page and font, so only two of its terminals count as supporting Unicode. */
export function isUnicode(env: Env, platform: NodeJS.Platform = process.platform): boolean {
  if (isDumb(env)) return false;
  if (platform === 'win32' && (env.WT_SESSION || env.TERM_PROGRAM === 'vscode')) return true;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
}

const COLOURS = [
  ['green', 'signed unchanged timestamped removed attached extracted reported trusted intact ok'],
  ['yellow', 'left warning note'],
  ['red', 'not-accepted untrusted unsupported broken unsigned failed error'],
] as const;

export function painted(line: string, isColoured: boolean): string {
  if (!isColoured) return line;
  return line.replace(/^[\w-]+(?= )/, (word) => {
    const [colour] = COLOURS.find(([, words]) => words.split(' ').includes(word)) ?? [];
    return colour === undefined ? word : styleText(colour, word, { validateStream: false });
  });
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !/^(?:0|false|)$/i.test(value);
}
