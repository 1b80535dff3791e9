/** Cross-reference sections, tables and streams, and the chain of them (ISO 32000-2, 7.5.4, 7.5.8). Entries of tables are read in place. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import { pdfErrors } from './errors.ts';
import { parseAt, readObjectAt, readStream } from './objects.ts';
import { isInteger, isOf, nameOf, type PdfDictionary, type PdfValue } from './values.ts';

export type Entry =
  | { readonly type: 'free' }
  | { readonly type: 'in-file'; readonly offset: number; readonly generation: number }
  | { readonly type: 'in-stream'; readonly stream: number; readonly index: number };

export interface Section {
  readonly kind: 'table' | 'stream';
  /** Where it starts, as `startxref` or /Prev names it. */
  readonly offset: number;
  readonly trailer: PdfDictionary;
  /** Numbers of the objects that it has entries for. */
  readonly ranges: readonly NumberRange[];
  /** Undefined if it has none for this object. */
  entry(number: number): Promise<Entry | undefined>;
  /** All of them, in no order. Throws `pdf-cross-reference-broken` for a malformed one. */
  forEach(visit: (number: number, entry: Entry) => void): Promise<void>;
}

export interface NumberRange {
  readonly first: number;
  readonly count: number;
}

/** A document has one for each time that it was saved, and one more if it is linearised. */
const MAX_SECTIONS = 1000;
const MAX_RANGES = 100_000;
/** Entries of all sections. A document of 100,000 pages with a structure tree has a million objects. */
const MAX_ENTRIES = 2_000_000;
/** As ISO 32000-1 limits object numbers. */
export const MAX_NUMBER = 8_388_607;
/** Of the last `startxref` before the end of the file: Acrobat looks as far. */
const TAIL_LENGTH = 1024;
const TABLE_ENTRY_LENGTH = 20;

export const brokenReference = (problem: string): CodesignError => pdfErrors('pdf-cross-reference-broken', { problem });

/** Where the last cross-reference section starts, and the end of its `%%EOF`. Throws `pdf-cross-reference-broken`. */
export async function findStart(source: ByteSource): Promise<{ readonly offset: number; readonly end: number }> {
  const from = Math.max(0, source.size - TAIL_LENGTH);
  const tail = Buffer.from(await source.read(from, source.size - from)).toString('latin1');
  const index = tail.lastIndexOf('startxref');
  if (index < 0) throw brokenReference('the file does not end with startxref');
  const found = /^startxref[\0\t\n\f\r ]+(\d{1,15})[\0\t\n\f\r ]+%%EOF/.exec(tail.slice(index));
  if (found === null) throw brokenReference('no offset and %%EOF follow the last startxref');
  return { offset: Number(found[1]), end: from + index + found[0].length };
}

/** The chain from the last section to the first; in a hybrid file the stream follows its table. Throws `pdf-cross-reference-broken`. */
export async function readSections(source: ByteSource, start: number): Promise<readonly [Section, ...Section[]]> {
  const seen = new Set([start]);
  const last = await readSection(source, start);
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
      const hybrid = await readSection(source, offsetOf(stream, 'XRefStm'));
      if (hybrid.kind !== 'stream') throw brokenReference('/XRefStm does not lead to a stream');
      sections.push(hybrid);
      count(hybrid);
    }
    const previous = entries.get('Prev');
    if (previous === undefined) break;
    const offset = offsetOf(previous, 'Prev');
    if (seen.has(offset)) throw brokenReference('its sections lead round in a circle');
    seen.add(offset);
    next = await readSection(source, offset);
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

async function readSection(source: ByteSource, offset: number): Promise<Section> {
  if (offset >= source.size) throw brokenReference(`no section is at byte ${offset}, where one should be`);
  const keyword = await parseAt(source, offset, (from) => {
    from.skipSpace();
    return { text: from.word(), end: offset + from.position };
  });
  if (keyword.text === 'xref') return readTable(source, offset, keyword.end);
  if (/^\d+$/.test(keyword.text)) return readXrefStream(source, offset);
  throw brokenReference(`no section is at byte ${offset}, where one should be`);
}

/** Bytes in which the header of a subsection fits. */
const HEADER_WINDOW = 64;

async function readTable(source: ByteSource, offset: number, behindKeyword: number): Promise<Section> {
  const ranges: (NumberRange & { readonly start: number })[] = [];
  let position = behindKeyword;
  for (;;) {
    const bytes = await source.read(position, Math.min(HEADER_WINDOW, source.size - position));
    const text = Buffer.from(bytes).toString('latin1');
    const header = /^[\0\t\n\f\r ]*(\d{1,10}) +(\d{1,10}) *(?:\r\n|\n|\r)/.exec(text);
    if (header === null) {
      const trailer = /^[\0\t\n\f\r ]*trailer/.exec(text);
      if (trailer === null) throw brokenReference(`the table at byte ${offset} has no trailer after its entries`);
      position += trailer[0].length;
      break;
    }
    const [first, count] = [Number(header[1]), Number(header[2])];
    const start = position + header[0].length;
    position = start + count * TABLE_ENTRY_LENGTH;
    if (position > source.size) throw brokenReference(`the table at byte ${offset} is longer than the file`);
    ranges.push({ ...checkedRange(first, count), start });
    if (ranges.length > MAX_RANGES) throw pdfErrors('pdf-too-large', { limit: MAX_RANGES, what: 'subsections' });
  }
  const trailer = await parseAt(source, position, (from) => from.value());
  if (!isOf(trailer, 'dictionary'))
    throw brokenReference(`the table at byte ${offset} has no trailer after its entries`);
  const rangeOf = rangeFinder(ranges);
  return {
    kind: 'table',
    offset,
    trailer,
    ranges,
    async entry(number) {
      const range = rangeOf(number);
      if (range === undefined) return undefined;
      const at = range.start + (number - range.first) * TABLE_ENTRY_LENGTH;
      const text = Buffer.from(await source.read(at, TABLE_ENTRY_LENGTH)).toString('latin1');
      return tableEntry(text, number);
    },
    async forEach(visit) {
      for (const { first, count, start } of ranges) {
        for (let index = 0; index < count; index += BATCH) {
          const length = Math.min(BATCH, count - index) * TABLE_ENTRY_LENGTH;
          const text = Buffer.from(await source.read(start + index * TABLE_ENTRY_LENGTH, length)).toString('latin1');
          for (let at = 0; at < length; at += TABLE_ENTRY_LENGTH) {
            const number = first + index + at / TABLE_ENTRY_LENGTH;
            visit(number, tableEntry(text.slice(at, at + TABLE_ENTRY_LENGTH), number));
          }
        }
      }
    },
  };
}

/** Entries of a table that are read together. */
const BATCH = 4096;

function tableEntry(text: string, number: number): Entry {
  const found = /^(\d{10}) (\d{5}) ([nf])(?: \r| \n|\r\n)$/.exec(text);
  if (found === null) throw brokenReference(`the entry of object ${number} is malformed`);
  if (found[3] === 'f') return { type: 'free' };
  return { type: 'in-file', offset: Number(found[1]), generation: Number(found[2]) };
}

/** The first and the last byte at which one of its objects starts; its own start is one of them. */
export async function extentOf(section: Section): Promise<{ readonly lowest: number; readonly highest: number }> {
  let [lowest, highest] = [section.offset, section.offset];
  await section.forEach((_number, entry) => {
    if (entry.type !== 'in-file') return;
    lowest = Math.min(lowest, entry.offset);
    highest = Math.max(highest, entry.offset);
  });
  return { lowest, highest };
}

async function readXrefStream(source: ByteSource, offset: number): Promise<Section> {
  const object = await readObjectAt(source, offset);
  const { value: trailer } = object;
  if (!isOf(trailer, 'dictionary') || nameOf(trailer.entries.get('Type')) !== 'XRef') {
    throw brokenReference(`no section is at byte ${offset}, where one should be`);
  }
  const data = await readStream(source, object, trailer.entries.get('Length') ?? null);
  const widths = integers(trailer.entries.get('W'));
  const [typeWidth = 0, secondWidth = 0, thirdWidth = 0] = widths;
  if (widths.length !== 3 || widths.some((width) => width > 8))
    throw brokenReference('/W has other widths than it may have');
  const width = typeWidth + secondWidth + thirdWidth;
  const index = trailer.entries.has('Index')
    ? integers(trailer.entries.get('Index'))
    : [0, ...integers(trailer.entries.get('Size'))];
  const ranges: (NumberRange & { readonly start: number })[] = [];
  let start = 0;
  for (let at = 0; at + 1 < index.length; at += 2) {
    const range = checkedRange(index[at] ?? 0, index[at + 1] ?? 0);
    ranges.push({ ...range, start });
    start += range.count * width;
  }
  if (index.length % 2 !== 0 || start > data.length || width === 0)
    throw brokenReference('a stream has fewer entries than it names');
  if (ranges.length > MAX_RANGES) throw pdfErrors('pdf-too-large', { limit: MAX_RANGES, what: 'subsections' });
  const field = (from: number, length: number): number =>
    data.subarray(from, from + length).reduce((value, byte) => value * 256 + byte, 0);
  const entryAt = (at: number): Entry => {
    const type = typeWidth === 0 ? 1 : field(at, typeWidth);
    const second = field(at + typeWidth, secondWidth);
    const third = field(at + typeWidth + secondWidth, thirdWidth);
    if (type === 1) return { type: 'in-file', offset: second, generation: third };
    return type === 2 ? { type: 'in-stream', stream: second, index: third } : { type: 'free' };
  };
  const rangeOf = rangeFinder(ranges);
  return {
    kind: 'stream',
    offset,
    trailer,
    ranges,
    async entry(number) {
      const range = rangeOf(number);
      return range && entryAt(range.start + (number - range.first) * width);
    },
    async forEach(visit) {
      for (const { first, count, start: from } of ranges) {
        for (let index = 0; index < count; index += 1) visit(first + index, entryAt(from + index * width));
      }
    },
  };
}

function checkedRange(first: number, count: number): NumberRange {
  if (first + count > MAX_NUMBER + 1) throw pdfErrors('pdf-too-large', { limit: MAX_NUMBER, what: 'objects' });
  return { first, count };
}

/** Finds the range that has a number. Throws `pdf-cross-reference-broken` if two have one: readers take either. */
function rangeFinder<Range extends NumberRange>(ranges: readonly Range[]): (number: number) => Range | undefined {
  const sorted = ranges.filter(({ count }) => count > 0).sort((a, b) => a.first - b.first);
  for (const [index, { first, count }] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next !== undefined && first + count > next.first) throw brokenReference(`object ${next.first} is in it twice`);
  }
  return (number) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle]?.first ?? 0) <= number) low = middle + 1;
      else high = middle;
    }
    const range = sorted[low - 1];
    return range !== undefined && number < range.first + range.count ? range : undefined;
  };
}

function integers(value: PdfValue | undefined): readonly number[] {
  const items = isOf(value, 'array') ? value.items : [value];
  return items.map((item) => {
    if (isInteger(item)) return item;
    throw brokenReference('a stream has other values than numbers in /W, /Index or /Size');
  });
}
