/** Progress of a run on standard error: a live line, plain lines at intervals, or nothing. */

import { clock } from '../../../app/clock.ts';
import { cliErrors } from '../../errors.ts';
import type { Io } from '../../io.ts';
import type { LinesOptions } from '../lines.ts';
import { columnsOf, isContinuousIntegration, isDumb, isTerminal, LEAST_LIVE_COLUMNS } from '../terminal.ts';
import { type ProgressEvent, ProgressState, type ProgressWords } from './progress-state.ts';

export type { ProgressWords };

export type ProgressMode = 'live' | 'plain' | 'none';

/** Disposing removes the live line; doing so twice is harmless. */
export interface Progress extends Disposable {
  /** How many files there are. */
  expect(files: number): void;
  event(event: ProgressEvent): void;
}

/** A shorter run shows nothing, and does not load the code for it. */
const LIVE_AFTER_MILLISECONDS = 300;
/** Screen readers read every line aloud. */
const PLAIN_EVERY_MILLISECONDS = 5000;

/** Throws `progress-unknown`. */
export function openProgress(io: Io, options: LinesOptions, words: ProgressWords): Progress {
  const state = new ProgressState(words, clock);
  return {
    expect: (files) => state.expect(files),
    event: (event) => state.event(event),
    [Symbol.dispose]: show(progressMode(io, options), state, io),
  };
}

/** Throws `progress-unknown`. */
export function progressMode({ stdout, stderr, env }: Io, { quiet, json, verbose }: LinesOptions): ProgressMode {
  const wish = wishIn(env.CODESIGN_PROGRESS);
  if (quiet || wish === 'none') return 'none';
  // A live line would disturb a document on the same terminal.
  const isFree = !(json && isTerminal(stdout));
  const isAble = isTerminal(stderr) && columnsOf(stderr) >= LEAST_LIVE_COLUMNS && !isDumb(env);
  if (wish !== 'plain' && isFree && isAble && (wish === 'live' || !isContinuousIntegration(env))) return 'live';
  return wish === 'plain' || (wish === undefined && verbose && !isAble) ? 'plain' : 'none';
}

function wishIn(value: string | undefined): ProgressMode | undefined {
  switch (value) {
    case undefined:
    case '':
      return undefined;
    case 'live':
    case 'plain':
    case 'none':
      return value;
    default:
      throw cliErrors('progress-unknown', { value });
  }
}

/** Returns what ends it. */
function show(mode: ProgressMode, state: ProgressState, io: Io): () => void {
  switch (mode) {
    case 'live':
      return showLive(state, io);
    case 'plain':
      return showPlain(state, io);
    case 'none':
      return () => undefined;
  }
}

function showLive(state: ProgressState, io: Io): () => void {
  let isOver = false;
  let stop = (): void => undefined;
  const start = async (): Promise<void> => {
    const { startLiveLine } = await import('./progress-live.ts');
    if (!isOver) stop = startLiveLine(state, io);
  };
  // The run continues if this fails.
  const timer = setTimeout(() => void start().catch(() => undefined), LIVE_AFTER_MILLISECONDS).unref();
  return () => {
    isOver = true;
    clearTimeout(timer);
    stop();
    stop = () => undefined;
  };
}

function showPlain(state: ProgressState, { stderr }: Io): () => void {
  let last = '';
  const print = (): void => {
    const text = state.parts().join(', ');
    if (text !== last) stderr.write(`working  ${text}\n`);
    last = text;
  };
  const timer = setInterval(print, PLAIN_EVERY_MILLISECONDS).unref();
  return () => clearInterval(timer);
}
