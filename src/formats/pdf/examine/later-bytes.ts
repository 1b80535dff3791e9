import type { ByteRange } from '../../../bytes/pieces.ts';
import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import { readObjectAt } from '../../../pdf-syntax/objects.ts';
import type { Entry, Section } from '../../../pdf-syntax/section.ts';
import { findEndstream, streamLength, textAt } from '../../../pdf-syntax/stream-end.ts';
import { isOf, isSameValue, numberOf } from '../../../pdf-syntax/values.ts';
import { inStoredOrder } from './reached.ts';

const WINDOW = 256;
const LONGEST_GAP = 64 * 1024;
/** Matches white space and the ends of trailers. iText writes a comment with its own name before `startxref`. */
const GAP =
  /^(?:[\0\t\n\f\r ]+|(?:%(?![^\r\n]*(?:obj|xref|trailer|PDF|EOF))[\x20-\x7e]{0,100}[\r\n]+)?startxref[\0\t\n\f\r ]+\d+[\0\t\n\f\r ]+%%EOF)*/;
const OBJECT_END = /^[\0\t\n\f\r ]*endobj/;

/**
 * Returns the byte ranges after `from` that are outside objects, tables and trailers, or that readers would use when
 * they repair the document. Throws `pdf-cross-reference-broken` if a later cross-reference section has a wrong offset
 * for an object.
 */
export async function unlistedBytes(document: PdfDocument, from: number): Promise<readonly ByteRange[]> {
  const { source, sections } = document;
  const tableEnds = new Map<number, number>();
  const starts = new Set<number>([source.size]);
  const numbers = new Set<number>();
  for (const { kind, offset, end, forEach } of sections) {
    if (offset >= from) starts.add(offset);
    if (kind === 'table') tableEnds.set(offset, end);
    forEach((number, entry) => {
      if (offset >= from) numbers.add(number);
      if (entry.type === 'in-file' && entry.offset >= from) starts.add(entry.offset);
    });
  }
  const references = Array.from(numbers, (number) => ({ kind: 'reference', number, generation: 0 }) as const);
  for (const { number } of inStoredOrder(document, references, (each) => each)) await document.object(number);
  const unlisted = await repairedBytes(document, from);
  const sorted = [...Float64Array.from(starts).sort()];
  let position = from;
  for (const [index, start] of sorted.entries()) {
    const gap = await textAt(source, position, Math.min(LONGEST_GAP, start - position));
    const hidden = position + (GAP.exec(gap)?.[0].length ?? 0);
    if (hidden < start) unlisted.push({ start: hidden, end: start });
    const next = sorted[index + 1];
    if (next === undefined) break;
    position = Math.max(position, tableEnds.get(start) ?? (await objectEnd(document, start, next)) ?? start);
  }
  return unlisted;
}

/**
 * When readers repair a document, they search for these words, even in streams, and use the last object with each
 * number.
 */
const REPAIRED = /(?<!\d)(\d+)[\s\0]+\d+[\s\0]+obj|trailer|\/Root[\s\0]*(\d+)/g;
/** The offset in an entry may point to white space before the object. */
const ONLY_SPACE = /^[\s\0]*$/;
const LONGEST_SPACE = 64;
const PIECE = 256 * 1024;
const LONGEST = 4096;

/** Poppler repairs the whole document if a single reference leads to a missing object. */
async function repairedBytes({ source, sections, entry, root }: PdfDocument, from: number): Promise<ByteRange[]> {
  const found: ByteRange[] = [];
  const starts = new Set(sections.map(({ offset }) => offset));
  const tables = sections.filter(({ kind }) => kind === 'table').sort((a, b) => b.offset - a.offset);
  /**
   * Returns true if the match at offset `at` is the first match inside a cross-reference table. This match must be the
   * trailer of the table, because only numbers precede the trailer.
   */
  const isTrailer = (at: number): boolean => {
    while ((tables.at(-1)?.end ?? at + 1) <= at) tables.pop();
    return (tables.at(-1)?.offset ?? at + 1) <= at && tables.pop() !== undefined;
  };
  for (let start = from; start < source.size; start += PIECE) {
    const text = await textAt(source, start, PIECE + LONGEST);
    const isLast = (number: number, at: number): boolean => {
      const inForce = entry(number);
      const stored = inForce?.type === 'in-stream' ? entry(inForce.stream) : inForce;
      if (stored?.type !== 'in-file') return starts.has(at);
      const isNear = stored.offset + LONGEST_SPACE >= at;
      return isNear && ONLY_SPACE.test(text.slice(Math.max(0, stored.offset - start), Math.max(0, at - start)));
    };
    for (const { 0: match, 1: number, 2: catalog, index } of text.matchAll(REPAIRED)) {
      if (index >= PIECE) break;
      const at = start + index;
      const isUsed =
        number !== undefined
          ? isLast(Number(number), at)
          : catalog !== undefined
            ? Number(catalog) === root.number
            : isTrailer(at);
      if (!isUsed) found.push({ start: at, end: at + match.length });
    }
  }
  return found;
}

async function objectEnd(document: PdfDocument, offset: number, limit: number): Promise<number | undefined> {
  const { source } = document;
  const object = await readObjectAt(source, offset);
  if (object.streamStart === undefined) return object.end;
  const length = await streamLength(document, object);
  const from = object.streamStart + (length ?? 0);
  const end = await findEndstream(source, from, Math.max(from, limit));
  const tail = end === undefined ? null : OBJECT_END.exec(await textAt(source, end, WINDOW));
  return end === undefined || tail === null ? undefined : end + tail[0].length;
}

/**
 * `later` is the number of cross-reference sections after the signed revision. Returns the objects that they move, and in
 * `misled` the part of them that readers interpret differently, or that points into the signed bytes.
 */
export async function movedObjects(signed: PdfDocument, last: PdfDocument, later: number) {
  const moved = new Set<number>();
  let misled = isResized(signed, last) ? 'the trailer, /Size' : undefined;
  const mislead = (number: number): void => {
    misled ??= `object ${number}, whose table leads to other bytes`;
  };
  for (const [index, section] of last.sections.slice(0, later).entries()) {
    const table = hybridTableOf(last, index);
    const previous = table && section.trailer.entries.get('Prev');
    // Some readers continue at the /Prev of the table.
    if (previous !== undefined && !isSameValue(previous, table?.trailer.entries.get('Prev'))) {
      misled ??= 'the trailer, /XRefStm /Prev';
    }
    section.forEach((number, entry) => {
      const [before, other] = [signed.entry(number), table?.entry(number)];
      const isHidden = other?.type === 'free' && isSameEntry(other, before);
      if (other !== undefined && !isHidden && !isSameEntry(other, entry)) mislead(number);
      if (isSameEntry(entry, before)) return;
      moved.add(number);
      const stored = entry.type === 'in-stream' ? last.entry(entry.stream) : entry;
      if (stored?.type === 'in-file' && stored.offset < signed.source.size) mislead(number);
    });
  }
  for (const stream of new Set(signed.sections.flatMap(({ extent }) => [...extent().streams]))) {
    const value = (await signed.object(stream))?.value;
    const length = isOf(value, 'dictionary') ? value.entries.get('Length') : undefined;
    if (isOf(length, 'reference') && moved.has(length.number)) mislead(stream);
  }
  return { moved, misled };
}

/** Some readers ignore every object whose number is /Size or higher. */
function isResized(signed: PdfDocument, last: PdfDocument): boolean {
  const [before, now] = [sizeOf(signed), sizeOf(last)];
  return now < before || (now > before && before < signed.nextNumber);
}

const sizeOf = ({ trailer }: PdfDocument): number => numberOf(trailer.entries.get('Size')) ?? 0;

/**
 * In a hybrid file, returns the cross-reference table that precedes the cross-reference stream. Some readers use the
 * table, while others use the stream.
 */
function hybridTableOf({ sections }: PdfDocument, index: number): Section | undefined {
  const table = sections[index - 1];
  return table?.kind === 'table' && table.trailer.entries.has('XRefStm') ? table : undefined;
}

function isSameEntry(a: Entry, b: Entry | undefined): boolean {
  if (a.type === 'in-file') return b?.type === 'in-file' && a.offset === b.offset && a.generation === b.generation;
  if (a.type === 'in-stream') return b?.type === 'in-stream' && a.stream === b.stream && a.index === b.index;
  return b === undefined || b.type === 'free';
}
