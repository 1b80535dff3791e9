/** Reads a cross-reference table (ISO 32000-2, 7.5.4). */

import type { ByteSource } from '../bytes/byte-source.ts';
import { parseAt } from './objects.ts';
import { brokenReference, entryInFile, nextRange, type Section, type StoredRange, sectionOf } from './section.ts';
import { isOf } from './values.ts';

const HEADER = /[\0\t\n\f\r ]*(\d{1,10})[\0\t\n\f\r ]+(\d{1,10})(?=[\0\t\n\f\r ])/y;
const ENTRY = /[\0\t\n\f\r ]*(\d{1,10})[\0\t\n\f\r ]+(\d{1,5})[\0\t\n\f\r ]+([nf])(?=[\0\t\n\f\r ]|trailer)/y;
const TRAILER = /[\0\t\n\f\r ]*trailer(?=[\0\t\n\f\r <%])/y;
const SHORTEST_ENTRY = '0 0 n'.length;

/**
 * Reads words instead of fields of a fixed length, because some programs write entries of 19 or 21 bytes instead of 20.
 */
export async function readTable(source: ByteSource, offset: number, afterKeyword: number): Promise<Section> {
  const ranges: StoredRange[] = [];
  // Stores two numbers per entry, for up to several million entries. If the first number of an entry is 0, the entry is
  // free.
  const numbers: number[] = [];
  const words = wordsFrom(source, afterKeyword);
  for (let header = await words.next(HEADER); header !== null; header = await words.next(HEADER)) {
    const range = nextRange(ranges, Number(header[1]), Number(header[2]));
    if (range.count > source.size / SHORTEST_ENTRY)
      throw brokenReference(`the table at byte ${offset} is longer than the file`);
    ranges.push(range);
    for (let index = 0; index < range.count; index += 1) {
      const entry = words.readAlready(ENTRY) ?? (await words.next(ENTRY));
      if (entry === null) throw brokenReference(`the entry of object ${range.first + index} is malformed`);
      numbers.push(entry[3] === 'n' ? Number(entry[1]) : 0, Number(entry[2]));
    }
  }
  if ((await words.next(TRAILER)) === null)
    throw brokenReference(`the table at byte ${offset} has no trailer after its entries`);
  const start = words.position();
  const { trailer, end } = await parseAt(source, start, (from) => ({
    trailer: from.value(),
    end: start + from.position,
  }));
  if (!isOf(trailer, 'dictionary')) throw brokenReference(`the trailer of the table at byte ${offset} is malformed`);
  return sectionOf({ kind: 'table', offset, end, trailer }, ranges, (index) =>
    entryInFile(numbers[2 * index] ?? 0, numbers[2 * index + 1] ?? 0),
  );
}

const WINDOW = 64 * 1024;
const LONGEST_MATCH = 128;

function wordsFrom(source: ByteSource, start: number) {
  let textStart = start;
  let text = '';
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  return {
    position: () => textStart + at,
    /** Returns null if the pattern does not match the text that has already been read. */
    readAlready: (pattern: RegExp) => (text.length - at < LONGEST_MATCH ? null : match(pattern)),
    async next(pattern: RegExp): Promise<RegExpExecArray | null> {
      if (text.length - at < LONGEST_MATCH) {
        textStart += at;
        at = 0;
        const bytes = await source.read(textStart, Math.min(WINDOW, source.size - textStart));
        text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
      }
      return match(pattern);
    },
  };
}
