/**
 * The interface that cross-reference tables (ISO 32000-2, 7.5.4) and cross-reference streams (7.5.8) have in common.
 */

import { lazy } from '../bytes/reuse.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import { pdfErrors } from './errors.ts';
import type { PdfDictionary } from './values.ts';

export type Entry =
  | { readonly type: 'free' }
  | { readonly type: 'in-file'; readonly offset: number; readonly generation: number }
  | { readonly type: 'in-stream'; readonly stream: number; readonly index: number };

export interface NumberRange {
  readonly first: number;
  readonly count: number;
}

export interface StoredRange extends NumberRange {
  readonly start: number;
}

export interface Section {
  readonly kind: 'table' | 'stream';
  readonly offset: number;
  /** Offset of the end of a table's trailer, or of the end of the `endstream` keyword. */
  readonly end: number;
  readonly trailer: PdfDictionary;
  readonly ranges: readonly NumberRange[];
  entry(number: number): Entry | undefined;
  forEach(visit: (number: number, entry: Entry) => void): void;
  extent(): Extent;
}

/** Lowest and highest offset of the section and its objects, the objects in use, and the streams that hold objects. */
export type Extent = ReturnType<typeof extentOf>;

const MAX_RANGES = 100_000;
/**
 * Limit on the total number of entries in all sections. A document with 100,000 tagged pages contains a million
 * objects.
 */
export const MAX_ENTRIES = 2_000_000;
/** Largest object number, according to ISO 32000-1. */
export const MAX_NUMBER = 8_388_607;

export const brokenReference = (problem: string): CodesignError => pdfErrors('pdf-cross-reference-broken', { problem });

/**
 * Throws `pdf-cross-reference-broken` if an object has two entries, because readers disagree about which entry to use.
 */
export function sectionOf(
  head: Pick<Section, 'kind' | 'offset' | 'end' | 'trailer'>,
  ranges: readonly StoredRange[],
  entryAt: (index: number) => Entry,
): Section {
  const rangeOf = rangeFinder(ranges);
  const forEach: Section['forEach'] = (visit) => {
    for (const { first, count, start } of ranges) {
      for (let index = 0; index < count; index += 1) visit(first + index, entryAt(start + index));
    }
  };
  return {
    ...head,
    ranges,
    entry(number) {
      const range = rangeOf(number);
      return range && entryAt(range.start + number - range.first);
    },
    forEach,
    extent: lazy(() => extentOf(head.offset, forEach)),
  };
}

function extentOf(offset: number, forEach: Section['forEach']) {
  let [lowest, highest, used] = [offset, offset, 0];
  const streams = new Set<number>();
  forEach((_number, entry) => {
    if (entry.type !== 'free') used += 1;
    if (entry.type === 'in-stream') streams.add(entry.stream);
    if (entry.type !== 'in-file') return;
    lowest = Math.min(lowest, entry.offset);
    highest = Math.max(highest, entry.offset);
  });
  return { lowest, highest, used, streams: streams as ReadonlySet<number> };
}
/**
 * For a missing object, some programs write an entry that is in use but has offset 0, where PDF readers find no object.
 */
export function entryInFile(offset: number, generation: number): Entry {
  return offset === 0 ? FREE : { type: 'in-file', offset, generation };
}

export const FREE: Entry = { type: 'free' };

export function nextRange(ranges: readonly StoredRange[], first: number, count: number): StoredRange {
  if (first + count > MAX_NUMBER + 1) throw pdfErrors('pdf-too-large', { limit: MAX_NUMBER, what: 'objects' });
  if (ranges.length === MAX_RANGES) throw pdfErrors('pdf-too-large', { limit: MAX_RANGES, what: 'subsections' });
  const last = ranges.at(-1);
  const start = last === undefined ? 0 : last.start + last.count;
  if (start + count > MAX_ENTRIES) throw pdfErrors('pdf-too-large', { limit: MAX_ENTRIES, what: 'objects' });
  return { first, count, start };
}

/** Throws `pdf-cross-reference-broken` if two ranges overlap, because readers disagree about which range to use. */
function rangeFinder(ranges: readonly StoredRange[]): (number: number) => StoredRange | undefined {
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
