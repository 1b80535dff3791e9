/** Reads the chain of cross-reference sections (ISO 32000-2, 7.5.5, 7.5.6). */

import type { ByteSource } from '../bytes/byte-source.ts';
import { pdfErrors } from './errors.ts';
import { parseAt, readObjectAt, readStream } from './objects.ts';
import {
  brokenReference,
  type Entry,
  entryInFile,
  FREE,
  MAX_ENTRIES,
  nextRange,
  type Section,
  type StoredRange,
  sectionOf,
} from './section.ts';
import { isInteger, isOf, nameOf, numberOf, type PdfValue } from './values.ts';

/** A document has one cross-reference section for each time it was saved, plus one if it is linearised. */
const MAX_SECTIONS = 1000;
/** Like Acrobat, searches this many bytes at the end of the file for the last `startxref`. */
const TAIL_LENGTH = 1024;

export async function findStart(source: ByteSource): Promise<{ readonly offset: number; readonly end: number }> {
  const from = Math.max(0, source.size - TAIL_LENGTH);
  const tail = Buffer.from(await source.read(from, source.size - from)).toString('latin1');
  const index = tail.lastIndexOf('startxref');
  if (index < 0) throw brokenReference('the file does not end with startxref');
  const found = /^startxref[\0\t\n\f\r ]+(\d{1,15})[\0\t\n\f\r ]+%%EOF/.exec(tail.slice(index));
  if (found === null) throw brokenReference('no offset and %%EOF follow the last startxref');
  return { offset: Number(found[1]), end: from + index + found[0].length };
}

/**
 * Returns the sections in reverse order, beginning with the last one. In a hybrid file, the cross-reference stream
 * follows its table. `known` contains sections of a longer file that begins with the same bytes; they are not read
 * again.
 */
export async function readSections(
  source: ByteSource,
  start: number,
  known: readonly Section[],
): Promise<readonly [Section, ...Section[]]> {
  const knownAt = new Map(known.filter(({ end }) => end <= source.size).map((section) => [section.offset, section]));
  const readSection = async (offset: number) => knownAt.get(offset) ?? (await readSectionAt(source, offset));
  const seen = new Set([start]);
  const last = await readSection(start);
  const sections: [Section, ...Section[]] = [last];
  let left = MAX_ENTRIES;
  const count = ({ ranges }: Section): void => {
    left -= ranges.reduce((sum, range) => sum + range.count, 0);
    if (left < 0) throw pdfErrors('pdf-too-large', { limit: MAX_ENTRIES, what: 'objects' });
  };
  count(last);
  for (let next: Section | undefined = last; next !== undefined; ) {
    const { entries } = next.trailer;
    const stream = entries.get('XRefStm');
    if (next.kind === 'table' && stream !== undefined) {
      const hybrid = await readSection(offsetOf(stream, 'XRefStm'));
      if (hybrid.kind !== 'stream') throw brokenReference('/XRefStm does not lead to a stream');
      sections.push(hybrid);
      count(hybrid);
    }
    const previous = entries.get('Prev');
    if (previous === undefined) break;
    const offset = offsetOf(previous, 'Prev');
    if (seen.has(offset)) throw brokenReference('its sections form a cycle');
    seen.add(offset);
    next = await readSection(offset);
    sections.push(next);
    count(next);
    if (sections.length > MAX_SECTIONS) throw pdfErrors('pdf-too-large', { limit: MAX_SECTIONS, what: 'revisions' });
  }
  return sections;
}

function offsetOf(value: PdfValue, key: string): number {
  if (isInteger(value)) return value;
  throw brokenReference(`/${key} is not an offset`);
}

async function readSectionAt(source: ByteSource, offset: number): Promise<Section> {
  if (offset >= source.size) throw brokenReference(`no section is at byte ${offset}, where one should be`);
  const keyword = await parseAt(source, offset, (from) => {
    from.skipSpace();
    return { text: from.word(), end: offset + from.position };
  });
  if (keyword.text === 'xref') return readTable(source, offset, keyword.end);
  if (/^\d+$/.test(keyword.text)) return readXrefStream(source, offset);
  throw brokenReference(`no section is at byte ${offset}, where one should be`);
}

async function readXrefStream(source: ByteSource, offset: number): Promise<Section> {
  const object = await readObjectAt(source, offset);
  const { value: trailer } = object;
  if (!isOf(trailer, 'dictionary') || nameOf(trailer.entries.get('Type')) !== 'XRef') {
    throw brokenReference(`no section is at byte ${offset}, where one should be`);
  }
  const length = trailer.entries.get('Length') ?? null;
  const data = await readStream(source, object, length);
  const dataEnd = (object.streamStart ?? 0) + (numberOf(length) ?? 0);
  const end = await parseAt(source, dataEnd, (from) => {
    from.skipSpace();
    from.word();
    return dataEnd + from.position;
  });
  const widths = integers(trailer.entries.get('W'));
  const [typeWidth = 0, secondWidth = 0, thirdWidth = 0] = widths;
  if (widths.length !== 3 || widths.some((width) => width > 8)) throw brokenReference('/W has invalid widths');
  const width = typeWidth + secondWidth + thirdWidth;
  const index = trailer.entries.has('Index')
    ? integers(trailer.entries.get('Index'))
    : [0, ...integers(trailer.entries.get('Size'))];
  const ranges: StoredRange[] = [];
  for (let at = 0; at + 1 < index.length; at += 2) {
    ranges.push(nextRange(ranges, index[at] ?? 0, index[at + 1] ?? 0));
  }
  const count = ranges.reduce((sum, range) => sum + range.count, 0);
  if (index.length % 2 !== 0 || count * width > data.length || width === 0)
    throw brokenReference('a stream has fewer entries than it declares');
  const field = (from: number, length: number): number =>
    data.subarray(from, from + length).reduce((value, byte) => value * 256 + byte, 0);
  return sectionOf({ kind: 'stream', offset, end, trailer }, ranges, (at): Entry => {
    const position = at * width;
    const type = typeWidth === 0 ? 1 : field(position, typeWidth);
    const second = field(position + typeWidth, secondWidth);
    const third = field(position + typeWidth + secondWidth, thirdWidth);
    if (type === 1) return entryInFile(second, third);
    if (type === 2) return { type: 'in-stream', stream: second, index: third };
    // Some readers treat objects of an unknown type as free, while others repair the document.
    if (type !== 0) throw brokenReference(`a stream has an entry of type ${type}`);
    return FREE;
  });
}

function integers(value: PdfValue | undefined): readonly number[] {
  const items = isOf(value, 'array') ? value.items : [value];
  return items.map((item) => {
    if (isInteger(item)) return item;
    throw brokenReference('a stream has values in /W, /Index or /Size that are not numbers');
  });
}

const HEADER = /[\0\t\n\f\r ]*(\d{1,10})[\0\t\n\f\r ]+(\d{1,10})(?=[\0\t\n\f\r ])/y;
const ENTRY = /[\0\t\n\f\r ]*(\d{1,10})[\0\t\n\f\r ]+(\d{1,5})[\0\t\n\f\r ]+([nf])(?=[\0\t\n\f\r ]|trailer)/y;
const TRAILER = /[\0\t\n\f\r ]*trailer(?=[\0\t\n\f\r <%])/y;
const SHORTEST_ENTRY = '0 0 n'.length;

/**
 * Reads a cross-reference table (ISO 32000-2, 7.5.4). Reads words instead of fields of a fixed length, because some
 * programs write entries of 19 or 21 bytes instead of 20.
 */
async function readTable(source: ByteSource, offset: number, afterKeyword: number): Promise<Section> {
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
