import { basename } from 'node:path';
import { clock } from '../../../app/clock.ts';
import { printable } from '../../../errors/printable.ts';
import type { BytesRead, FileStep, SigningEvent } from '../../../signing/outcome.ts';
import { cliErrors } from '../../errors.ts';
import type { Io } from '../../io.ts';
import type { LinesOptions } from '../lines.ts';
import { columnsOf, isContinuousIntegration, isDumb, isTerminal, LEAST_LIVE_COLUMNS } from '../terminal.ts';

export type ProgressEvent =
  | Exclude<SigningEvent, { readonly type: 'file-finished' }>
  | { readonly type: 'file-finished'; readonly path: string; readonly word: string };

export interface ProgressWords {
  readonly doing: string;
  readonly done: string;
}

const WAITING: Readonly<Record<Exclude<FileStep, 'writing'>, string>> = {
  'asking-service': 'waiting for the service',
  'asking-authority': 'waiting for the timestamp authority',
};
/** Without an event for this long, a file is no longer shown as being read. */
const READING_MILLISECONDS = 1500;

type ProgressState = ReturnType<typeof progressState>;

export function progressState({ doing, done }: ProgressWords, now: () => number) {
  const underWay = new Map<string, FileStep | undefined>();
  const finished = new Map<string, number>();
  const started = now();
  let total = 0;
  let reading: (BytesRead & { readonly at: number }) | undefined;

  function forgetReading(path: string): void {
    if (reading?.path === path) reading = undefined;
  }

  function counts(): string[] {
    if (total < 2) return [];
    const others = ['unchanged', 'kept', 'skipped', 'failed', 'not tried'].filter((word) => finished.has(word));
    return [`${finished.get(done) ?? 0} of ${total} ${done}`, ...others.map((word) => `${finished.get(word)} ${word}`)];
  }

  function waits(): string[] {
    return Object.entries(WAITING).flatMap(([step, words]) => {
      const paths = [...underWay].filter(([, at]) => at === step).map(([path]) => path);
      const [only] = paths;
      if (only === undefined) return [];
      return [total > 1 ? `${paths.length} ${words}` : `${shortName(only)} ${words}`];
    });
  }

  function read(): string[] {
    if (reading === undefined || now() - reading.at > READING_MILLISECONDS) return [];
    const { path, bytes, size } = reading;
    return [`${shortName(path)} ${Math.floor((bytes / size) * 100)} % of ${sizeInWords(size)}`];
  }

  return {
    event(event: ProgressEvent): void {
      switch (event.type) {
        case 'files-planned':
          total = event.paths.length;
          break;
        case 'file-started':
          underWay.set(event.path, undefined);
          break;
        case 'file-step':
          underWay.set(event.path, event.step);
          forgetReading(event.path);
          break;
        case 'bytes-read':
          reading = { ...event, at: now() };
          break;
        case 'file-finished': {
          const { path, word } = event;
          underWay.delete(path);
          forgetReading(path);
          finished.set(word, (finished.get(word) ?? 0) + 1);
          break;
        }
      }
    },
    parts(): readonly string[] {
      const parts = [...counts(), ...waits(), ...read()];
      const [path] = underWay.keys();
      if (parts.length > 0) return parts;
      return [path === undefined ? doing : `${doing} ${shortName(path)}`];
    },
    elapsedSeconds: (): number => Math.floor((now() - started) / 1000),
  };
}

function shortName(path: string): string {
  return printable(basename(path));
}

function sizeInWords(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

type ProgressMode = 'live' | 'plain' | 'none';

/** May be disposed twice. */
export interface Progress extends Disposable {
  event(event: ProgressEvent): void;
}

/** A shorter run shows no progress, and does not load the code for it. */
const LIVE_AFTER_MILLISECONDS = 300;
/** Screen readers read every line aloud, so a new line is printed only after this time. */
const PLAIN_EVERY_MILLISECONDS = 5000;

export function openProgress(io: Io, options: LinesOptions, words: ProgressWords): Progress {
  const state = progressState(words, clock);
  return { ...state, [Symbol.dispose]: show(progressMode(io, options), state, io) };
}

export function progressMode({ stdout, stderr, env }: Io, { quiet, json, verbose }: LinesOptions): ProgressMode {
  const wish = wishIn(env.CODESIGN_PROGRESS);
  if (quiet || wish === 'none') return 'none';
  // A live line would disturb a JSON document on the same terminal.
  const isFree = !(json && isTerminal(stdout));
  const isAble = isTerminal(stderr) && columnsOf(stderr) >= LEAST_LIVE_COLUMNS && !isDumb(env);
  if (wish !== 'plain' && isFree && isAble && (wish === 'live' || !isContinuousIntegration(env))) return 'live';
  return wish === 'plain' || (wish === undefined && verbose && !isAble) ? 'plain' : 'none';
}

function wishIn(value: string | undefined): ProgressMode | undefined {
  if (!value) return undefined;
  if (value === 'live' || value === 'plain' || value === 'none') return value;
  throw cliErrors('progress-unknown', { value });
}

function show(mode: ProgressMode, state: ProgressState, io: Io): () => void {
  if (mode === 'none') return () => undefined;
  return mode === 'live' ? showLive(state, io) : showPlain(state, io);
}

function showLive(state: ProgressState, io: Io): () => void {
  let isOver = false;
  let stop = (): void => undefined;
  const start = async (): Promise<void> => {
    const { startLiveLine } = await import('./progress-live.ts');
    if (!isOver) stop = startLiveLine(state, io);
  };
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
