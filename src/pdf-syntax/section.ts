/** What every cross-reference section has, a table or a stream (ISO 32000-2, 7.5.4, 7.5.8). */

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

/** `start`: index of its first entry among those of the section. */
export interface StoredRange extends NumberRange {
  readonly start: number;
}

export interface Section {
  readonly kind: 'table' | 'stream';
  /** Where it starts, as `startxref` or /Prev names it. */
  readonly offset: number;
  /** End of the trailer, or of the keyword of its stream. */
  readonly end: number;
  readonly trailer: PdfDictionary;
  /** Numbers of the objects that it has entries for. */
  readonly ranges: readonly NumberRange[];
  /** Undefined if it has none for this object. */
  entry(number: number): Entry | undefined;
  /** All of them, in no order. */
  forEach(visit: (number: number, entry: Entry) => void): void;
}

const MAX_RANGES = 100_000;
/** Entries of all sections. A document of 100,000 pages with a structure tree has a million objects. */
export const MAX_ENTRIES = 2_000_000;
/** As ISO 32000-1 limits object numbers. */
export const MAX_NUMBER = 8_388_607;

export const brokenReference = (problem: string): CodesignError => pdfErrors('pdf-cross-reference-broken', { problem });

/** Throws `pdf-too-large`, and `pdf-cross-reference-broken` if an object is in it twice: readers take either. */
export function sectionOf(
  head: Pick<Section, 'kind' | 'offset' | 'end' | 'trailer'>,
  ranges: readonly StoredRange[],
  entryAt: (index: number) => Entry,
): Section {
  const rangeOf = rangeFinder(ranges);
  return {
    ...head,
    ranges,
    entry(number) {
      const range = rangeOf(number);
      return range && entryAt(range.start + number - range.first);
    },
    forEach(visit) {
      for (const { first, count, start } of ranges) {
        for (let index = 0; index < count; index += 1) visit(first + index, entryAt(start + index));
      }
    },
  };
}

/** Programs write an entry in use at offset 0 for an object that they do not write, and readers find none there. */
export function entryInFile(offset: number, generation: number): Entry {
  return offset === 0 ? FREE : { type: 'in-file', offset, generation };
}

export const FREE: Entry = { type: 'free' };

/** The range of `count` numbers that comes after those in `ranges`. Throws `pdf-too-large`. */
export function nextRange(ranges: readonly StoredRange[], first: number, count: number): StoredRange {
  if (first + count > MAX_NUMBER + 1) throw pdfErrors('pdf-too-large', { limit: MAX_NUMBER, what: 'objects' });
  if (ranges.length === MAX_RANGES) throw pdfErrors('pdf-too-large', { limit: MAX_RANGES, what: 'subsections' });
  const last = ranges.at(-1);
  const start = last === undefined ? 0 : last.start + last.count;
  if (start + count > MAX_ENTRIES) throw pdfErrors('pdf-too-large', { limit: MAX_ENTRIES, what: 'objects' });
  return { first, count, start };
}

/** Finds the range that has a number. Throws `pdf-cross-reference-broken` if two have one: readers take either. */
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
