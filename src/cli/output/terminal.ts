/** What the streams of a command can show: colours, a line that changes, and more than ASCII. */

import type { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';

type Env = Readonly<Record<string, string | undefined>>;

export function isTerminal(stream: Writable): stream is WriteStream {
  return 'isTTY' in stream && stream.isTTY === true;
}

/** 0 where nobody knows, and for what is no terminal. */
export function columnsOf(stream: Writable): number {
  return isTerminal(stream) ? (stream.columns ?? 0) : 0;
}

export function isDumb({ TERM }: Env): boolean {
  return TERM === 'dumb';
}

/** As most build services say it. */
export function isContinuousIntegration({ CI, GITHUB_ACTIONS }: Env): boolean {
  return isSet(CI) || isSet(GITHUB_ACTIONS);
}

/** https://no-color.org: NO_COLOR wins over all; FORCE_COLOR over what the stream is. */
export function hasColour(stream: Writable, env: Env): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return isSet(env.FORCE_COLOR);
  return isTerminal(stream) && !isDumb(env) && !isContinuousIntegration(env);
}

/**
 * Whether symbols beyond ASCII are shown as they are. A Windows console may have any code page and font: there only
 * terminals known to be good with all of Unicode are trusted.
 */
export function isUnicode(env: Env, platform: NodeJS.Platform = process.platform): boolean {
  if (isDumb(env)) return false;
  if (platform === 'win32' && (env.WT_SESSION || env.TERM_PROGRAM === 'vscode')) return true;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
}

export type Tone = 'good' | 'bad' | 'doubtful' | 'plain';

const COLOURS = { good: 'green', bad: 'red', doubtful: 'yellow' } as const;

/** `text` in the colour of its tone, where `isColoured`. */
export function toned(text: string, tone: Tone, isColoured: boolean): string {
  return tone === 'plain' || !isColoured ? text : styleText(COLOURS[tone], text, { validateStream: false });
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !/^(?:0|false|)$/i.test(value);
}
