/** The history: calls that are over, a line each, in a file a month; `sign` only ever appends to it. */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { DIGEST_ALGORITHMS } from '../crypto/algorithms.ts';
import { flushFolder, namesIn, type Owner, openLines, removeFile, unless } from './disk.ts';
import type { HistoryEntry } from './journal.ts';
import { decodeLine, encodeLine } from './lines.ts';

/** Where an entry goes: its month, and how long that file was before. */
export interface HistoryPlace {
  readonly month: string;
  readonly size: number;
}

export interface History {
  /** Where an entry of now would go. */
  place(): Promise<HistoryPlace>;
  /** Whether the call has an entry at one of the places or after it. */
  holds(id: string, places: readonly HistoryPlace[]): Promise<boolean>;
  /** On the disk when it resolves. */
  append(place: HistoryPlace, entry: HistoryEntry): Promise<void>;
  /** From the oldest month; in a month as they were appended. */
  entries(): AsyncIterable<HistoryEntry>;
  /** Removes months that ended more than `keepDays` ago. */
  removeOld(keepDays: number): Promise<void>;
}

const MONTH_FILE = /^(\d{4})-(\d{2})\.jsonl$/;
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
/** No entry is nearly as long. */
const LONGEST_LINE = 1024 * 1024;
const NEWLINE = 0x0a;

export interface HistoryOptions {
  readonly folder: string;
  readonly owner: Owner | undefined;
  readonly now: () => Date;
  /** Told of lines that cannot be read: a month, and how many. */
  readonly onDamaged: (month: string, lines: number) => void;
}

export function openHistory({ folder, owner, now, onDamaged }: HistoryOptions): History {
  const pathOf = (month: string): string => join(folder, `${month}.jsonl`);
  return {
    async place() {
      const month = now().toISOString().slice(0, 7);
      const stats = await unless('ENOENT', () => stat(pathOf(month)));
      return { month, size: stats?.size ?? 0 };
    },
    async holds(id, places) {
      for (const { month, size } of places) {
        if ((await unless('ENOENT', () => stat(pathOf(month)))) === undefined) continue;
        for await (const lines of linesFrom(pathOf(month), size)) {
          if (lines.some((line) => readEntry(line)?.id === id)) return true;
        }
      }
      return false;
    },
    async append({ month, size }, entry) {
      await using file = await openLines(pathOf(month), 'may-exist', owner);
      await file?.append(encodeLine({ ...entry }));
      await file?.flush();
      if (size === 0) await flushFolder(folder);
    },
    async *entries() {
      const months = (await namesIn(folder)).filter((name) => MONTH_FILE.test(name)).sort();
      for (const name of months) {
        let damaged = 0;
        for await (const lines of linesFrom(join(folder, name), 0)) {
          for (const line of lines) {
            const entry = readEntry(line);
            if (entry === undefined) damaged += 1;
            else yield entry;
          }
        }
        if (damaged > 0) onDamaged(name.slice(0, 7), damaged);
      }
    },
    async removeOld(keepDays) {
      for (const name of await namesIn(folder)) {
        const [, year, month] = MONTH_FILE.exec(name) ?? [];
        if (year === undefined || month === undefined) continue;
        const ended = Date.UTC(Number(year), Number(month));
        if (ended + keepDays * DAY_MILLISECONDS < now().getTime()) await removeFile(join(folder, name));
      }
    },
  };
}

const optionalText = v.optional(v.string());

const entrySchema = v.object({
  id: v.string(),
  at: v.string(),
  ended: optionalText,
  file: v.string(),
  bytes: v.number(),
  filesWritten: v.number(),
  certificate: v.object({ name: v.string(), sha256: v.string() }),
  origin: v.string(),
  code: v.string(),
  algorithm: v.picklist(DIGEST_ALGORITHMS),
  digest: v.string(),
  record: optionalText,
  outcome: v.picklist([
    'under-way',
    'unwritten',
    'unreported',
    'unknown',
    'written',
    'refused',
    'unusable',
    'given-up',
  ]),
  counted: v.picklist(['yes', 'no', 'unknown']),
  reported: v.optional(v.picklist([1, 2])),
  reason: optionalText,
});

function readEntry(line: string): HistoryEntry | undefined {
  const parsed = v.safeParse(entrySchema, decodeLine(line));
  if (!parsed.success) return undefined;
  const { ended, record, reported, reason, ...entry } = parsed.output;
  return { ...entry, ended, record, reported, reason };
}

/** The lines of a file from a place on, some at a time: a history is larger than memory should be. */
async function* linesFrom(path: string, start: number): AsyncGenerator<readonly string[]> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { start, highWaterMark: 64 * 1024 })) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    yield bytes.toString('utf8', 0, end).split('\n').filter(isLine);
    rest = bytes.subarray(end);
    // What is longer than any entry is none: its end will be told as damaged.
    if (rest.length > LONGEST_LINE) rest = rest.subarray(-1);
  }
  if (rest.length > 0) yield [rest.toString('utf8')];
}

function isLine(line: string): boolean {
  return line !== '';
}
