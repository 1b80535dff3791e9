import { closeSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { shareWork } from '../../bytes/reuse.ts';
import { DIGEST_ALGORITHMS } from '../../crypto/algorithms.ts';
import type { Disk } from '../disk.ts';
import { CALL_OUTCOMES, type HistoryEntry } from '../journal.ts';
import { decodeLine, encodeLine } from '../lines.ts';

/** Where an entry goes: its month, and how long that file was before. */
export interface HistoryOffset {
  readonly month: string;
  readonly size: number;
}

const MONTH_FILE = /^(\d{4})-(\d{2})\.jsonl$/;
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
/** No entry is nearly as long. */
const LONGEST_LINE = 1024 * 1024;
const READ_AT_ONCE = 64 * 1024;
const NEWLINE = 0x0a;

interface HistoryOptions {
  readonly folder: string;
  readonly disk: Disk;
  readonly now: () => Date;
  /** Called with a month and its number of lines that cannot be read. */
  readonly onDamaged: (month: string, lines: number) => void;
  /** Called with a month whose file cannot be read, such as a link, and why. */
  readonly onUnreadable: (month: string, thrown: unknown) => void;
}

export function openHistory({ folder, disk, now, onDamaged, onUnreadable }: HistoryOptions) {
  const pathOf = (month: string): string => join(folder, `${month}.jsonl`);
  const waiting: { readonly offset: HistoryOffset; readonly line: string }[] = [];

  /** One flush for all calls that end at about the same time. */
  const appendWaiting = shareWork(async () => {
    const taken = waiting.splice(0);
    for (const month of new Set(taken.map(({ offset }) => offset.month))) {
      const together = taken.filter(({ offset }) => offset.month === month);
      await using file = await disk.openLines(pathOf(month), 'may-exist');
      file?.append(together.map(({ line }) => line));
      await file?.flush();
      if (together.some(({ offset }) => offset.size === 0)) await disk.flushFolder(folder);
    }
  });

  const months = async (): Promise<readonly string[]> =>
    (await disk.namesIn(folder)).flatMap((name) => (MONTH_FILE.test(name) ? [name.slice(0, 7)] : [])).sort();

  return {
    /** Reads none of them. */
    async findUnreadable(): Promise<void> {
      for (const month of await months()) {
        await disk.sizeOf(pathOf(month)).catch((thrown) => onUnreadable(month, thrown));
      }
    },
    /** Where an entry of now would go. */
    async nextOffset(): Promise<HistoryOffset> {
      const month = now().toISOString().slice(0, 7);
      return { month, size: (await disk.sizeOf(pathOf(month))) ?? 0 };
    },
    /** Whether the call has an entry at one of the offsets or after it. */
    async holds(id: string, offsets: readonly HistoryOffset[]): Promise<boolean> {
      for (const { month, size } of offsets) {
        if ((await disk.sizeOf(pathOf(month))) === undefined) continue;
        for (const lines of linesFrom(await disk.openToRead(pathOf(month)), size)) {
          if (lines.some((line) => readEntry(line)?.id === id)) return true;
        }
      }
      return false;
    },
    /** Resolves when the entry is flushed. */
    async append(offset: HistoryOffset, entry: HistoryEntry): Promise<void> {
      waiting.push({ offset, line: encodeLine({ ...entry }) });
      await appendWaiting();
    },
    /**
     * All entries in the order in which they were appended. By the page, because handing them over one by one costs more
     * than reading them.
     */
    async *pages(): AsyncGenerator<readonly HistoryEntry[]> {
      for (const month of await months()) {
        let damaged = 0;
        const file = await disk.openToRead(pathOf(month)).catch((thrown) => onUnreadable(month, thrown));
        if (file === undefined) continue;
        for (const lines of linesFrom(file, 0)) {
          const entries = lines.map(readEntry).filter((entry) => entry !== undefined);
          damaged += lines.length - entries.length;
          yield entries;
        }
        if (damaged > 0) onDamaged(month, damaged);
      }
    },
    /** Removes months that ended more than `keepDays` ago. */
    async removeOld(keepDays: number): Promise<void> {
      for (const name of await disk.namesIn(folder)) {
        const [, year, month] = MONTH_FILE.exec(name) ?? [];
        if (year === undefined || month === undefined) continue;
        const ended = Date.UTC(Number(year), Number(month));
        if (ended + keepDays * DAY_MILLISECONDS >= now().getTime()) continue;
        await disk.removeFile(join(folder, name)).catch((thrown) => onUnreadable(name.slice(0, 7), thrown));
      }
    },
  };
}

/**
 * The lines of an open file from an offset on, some at a time: a history is larger than memory should be. Into one buffer
 * again and again: a stream's buffers pile up until they are collected. Closes the file.
 */
function* linesFrom(fd: number, start: number): Generator<readonly string[]> {
  try {
    const buffer = Buffer.alloc(LONGEST_LINE);
    let kept = 0;
    let position = start;
    for (;;) {
      const room = Math.min(READ_AT_ONCE, buffer.length - kept);
      const bytesRead = readSync(fd, buffer, kept, room, position);
      position += bytesRead;
      const length = kept + bytesRead;
      const end = bytesRead === 0 ? length : buffer.lastIndexOf(NEWLINE, length - 1) + 1;
      if (end > 0) yield buffer.toString('utf8', 0, end).split('\n').filter(isLine);
      if (bytesRead === 0) return;
      kept = length - end;
      // Longer than any entry: its end is reported as damaged.
      if (kept === buffer.length) kept = 1;
      else buffer.copyWithin(0, end, length);
    }
  } finally {
    closeSync(fd);
  }
}

function isLine(line: string): boolean {
  return line !== '';
}

const OUTCOMES: readonly unknown[] = CALL_OUTCOMES;
const COUNTED: readonly unknown[] = ['yes', 'no', 'unknown'] satisfies HistoryEntry['counted'][];
const REPORTED: readonly unknown[] = [1, 2, undefined] satisfies HistoryEntry['reported'][];
const ALGORITHMS: readonly unknown[] = DIGEST_ALGORITHMS;

/**
 * Undefined for a line that is torn, damaged or unknown. Checked by hand, and not copied: with a schema, or a copy, reading
 * 300,000 entries takes 124 MiB at the peak instead of 88.
 */
export function readEntry(line: string): HistoryEntry | undefined {
  const value = decodeLine(line);
  return isEntry(value) ? value : undefined;
}

function isEntry(value: unknown): value is HistoryEntry {
  if (!isObject(value)) return false;
  const { certificate } = value;
  return (
    areTexts(value.id, value.at, value.file, value.origin, value.code, value.digest) &&
    [value.ended, value.record, value.reason].every((text) => text === undefined || typeof text === 'string') &&
    typeof value.bytes === 'number' &&
    typeof value.filesWritten === 'number' &&
    (value.sha256 === undefined || (Array.isArray(value.sha256) && value.sha256.every(isText))) &&
    isObject(certificate) &&
    areTexts(certificate.name, certificate.sha256) &&
    ALGORITHMS.includes(value.algorithm) &&
    OUTCOMES.includes(value.outcome) &&
    COUNTED.includes(value.counted) &&
    REPORTED.includes(value.reported)
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every(isText);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
