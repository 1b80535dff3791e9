/** State of a run, and the words that describe it. */

import { basename } from 'node:path';
import { printable } from '../../../errors/printable.ts';
import type { BytesRead, FileStep, SigningEvent } from '../../../signing/outcome.ts';

/** The events of a run, for every command. */
export type ProgressEvent =
  | Exclude<SigningEvent, { readonly type: 'file-finished' }>
  | { readonly type: 'file-finished'; readonly outcome: { readonly path: string; readonly status: string } };

export interface ProgressWords {
  /** For example signing. */
  readonly doing: string;
  /** Status of successful files, for example signed. */
  readonly done: string;
}

const WAITING: Readonly<Record<Exclude<FileStep, 'writing'>, string>> = {
  'asking-service': 'waiting for the service',
  'asking-authority': 'waiting for the timestamp authority',
};
/** Without a new event after this time, a file is no longer shown as being read. */
const READING_MILLISECONDS = 1500;

export class ProgressState {
  readonly #words: ProgressWords;
  readonly #now: () => number;
  readonly #underWay = new Map<string, FileStep | undefined>();
  readonly #finished = new Map<string, number>();
  readonly #started: number;
  #total = 0;
  #reading: (BytesRead & { readonly at: number }) | undefined;

  /** `now`: monotonic, in milliseconds. */
  constructor(words: ProgressWords, now: () => number) {
    this.#words = words;
    this.#now = now;
    this.#started = now();
  }

  expect(files: number): void {
    this.#total = files;
  }

  event(event: ProgressEvent): void {
    switch (event.type) {
      case 'file-started':
        this.#underWay.set(event.path, undefined);
        break;
      case 'file-step':
        this.#underWay.set(event.path, event.step);
        this.#forgetReading(event.path);
        break;
      case 'bytes-read':
        this.#reading = { ...event, at: this.#now() };
        break;
      case 'file-finished': {
        const { path, status } = event.outcome;
        this.#underWay.delete(path);
        this.#forgetReading(path);
        this.#finished.set(status, (this.#finished.get(status) ?? 0) + 1);
        break;
      }
    }
  }

  /** Printable. */
  parts(): readonly string[] {
    const parts = [...this.#counts(), ...this.#waits(), ...this.#read()];
    const [path] = this.#underWay.keys();
    if (parts.length > 0 || path === undefined) return parts.length > 0 ? parts : [this.#words.doing];
    return [`${this.#words.doing} ${shortName(path)}`];
  }

  elapsedSeconds(): number {
    return Math.floor((this.#now() - this.#started) / 1000);
  }

  #forgetReading(path: string): void {
    if (this.#reading?.path === path) this.#reading = undefined;
  }

  #counts(): string[] {
    if (this.#total < 2) return [];
    const { done } = this.#words;
    const others = ['skipped', 'failed'].filter((status) => this.#finished.has(status));
    return [
      `${this.#finished.get(done) ?? 0} of ${this.#total} ${done}`,
      ...others.map((status) => `${this.#finished.get(status)} ${status}`),
    ];
  }

  #waits(): string[] {
    return Object.entries(WAITING).flatMap(([step, words]) => {
      const paths = [...this.#underWay].filter(([, at]) => at === step).map(([path]) => path);
      const [only] = paths;
      if (only === undefined) return [];
      return [this.#total > 1 ? `${paths.length} ${words}` : `${shortName(only)} ${words}`];
    });
  }

  #read(): string[] {
    const reading = this.#reading;
    if (reading === undefined || this.#now() - reading.at > READING_MILLISECONDS) return [];
    const { path, bytes, size } = reading;
    return [`${shortName(path)} ${Math.floor((bytes / size) * 100)} % of ${sizeInWords(size)}`];
  }
}

function shortName(path: string): string {
  return printable(basename(path));
}

/** In decimal units. */
export function sizeInWords(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
