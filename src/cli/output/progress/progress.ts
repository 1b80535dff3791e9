/** What is shown of a run while it goes on: opened with it, closed on every way out of it. */

import { clock } from '../../../app/clock.ts';
import type { Io } from '../../io.ts';
import { type ProgressOptions, progressMode } from './progress-mode.ts';
import { type ProgressEvent, ProgressState, type ProgressWords } from './progress-state.ts';

/** Disposing takes away what was shown; doing so twice is harmless. */
export interface Progress extends Disposable {
  /** How many files there are. */
  expect(files: number): void;
  hear(event: ProgressEvent): void;
}

/** A run that is over sooner shows nothing, and does not load what shows it. */
const LIVE_AFTER_MILLISECONDS = 300;
/** For people who have every line read to them. */
const PLAIN_EVERY_MILLISECONDS = 5000;

/** Throws `progress-unknown`. */
export function openProgress(io: Io, options: ProgressOptions, words: ProgressWords): Progress {
  const state = new ProgressState(words, clock);
  return {
    expect: (files) => state.expect(files),
    hear: (event) => state.hear(event),
    [Symbol.dispose]: show(progressMode(io, options), state, io),
  };
}

/** Gives what ends it. */
function show(mode: ReturnType<typeof progressMode>, state: ProgressState, io: Io): () => void {
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
  // Without it the run goes on all the same.
  const timer = setTimeout(() => void start().catch(() => undefined), LIVE_AFTER_MILLISECONDS).unref();
  return () => {
    isOver = true;
    clearTimeout(timer);
    stop();
    stop = () => undefined;
  };
}

function showPlain(state: ProgressState, { stderr }: Io): () => void {
  let told = '';
  const tell = (): void => {
    const text = state.parts().join(', ');
    if (text !== told) stderr.write(`working  ${text}\n`);
    told = text;
  };
  const timer = setInterval(tell, PLAIN_EVERY_MILLISECONDS).unref();
  return () => clearInterval(timer);
}
