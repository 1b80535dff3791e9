import type { ByteSource } from '../bytes/byte-source.ts';
import type { PdfDocument } from './document.ts';
import { type IndirectObject, readObjectAt } from './objects.ts';
import { brokenReference } from './section.ts';
import { isOf, type PdfReference, type PdfValue } from './values.ts';

const READ_AHEAD = 256 * 1024;

/**
 * Throws `pdf-cross-reference-broken` if an object in use is not at its offset in the cross-reference table or stream.
 */
export async function forEachObject(document: PdfDocument, visit: (object: IndirectObject) => void): Promise<void> {
  const { inFile, inStreams } = await objectsInUse(document);
  const source = readingAhead(document.source);
  for (const { number, first: offset, second: generation } of inFile.sorted()) {
    if (offset <= 0 || offset >= source.size) throw misplaced(number);
    const found = await readObjectAt(source, offset);
    if (found.number !== number || found.generation !== generation) throw misplaced(number);
    visit(found);
  }
  for (const { number, first: stream, second: index } of inStreams.sorted()) {
    const found = await document.objectAt(number, { type: 'in-stream', stream, index });
    if (found !== undefined) visit(found);
  }
}

const misplaced = (number: number) => brokenReference(`object ${number} is not where it should be`);

/** `key` is the dictionary key or array index of the reference, or undefined if `value` itself is a reference. */
export function forEachReference(
  value: PdfValue,
  visit: (reference: PdfReference, key: string | number | undefined) => void,
  key?: string | number,
): void {
  if (isOf(value, 'reference')) visit(value, key);
  else if (isOf(value, 'array'))
    for (const [index, item] of value.items.entries()) forEachReference(item, visit, index);
  else if (isOf(value, 'dictionary')) for (const [name, item] of value.entries) forEachReference(item, visit, name);
}

async function objectsInUse({ sections, nextNumber }: PdfDocument) {
  const seen = new Uint8Array(nextNumber);
  const [inFile, inStreams] = [placements(), placements()];
  for (const section of sections) {
    const isHybrid = section.kind === 'table' && section.trailer.entries.has('XRefStm');
    section.forEach((number, entry) => {
      if (seen[number] === 1 || (isHybrid && entry.type === 'free')) return;
      seen[number] = 1;
      if (entry.type === 'in-file') inFile.add(number, entry.offset, entry.generation);
      else if (entry.type === 'in-stream') inStreams.add(number, entry.stream, entry.index);
    });
  }
  return { inFile, inStreams };
}

const FIRST_CAPACITY = 1024;

/** Stores the offsets of up to several million objects, in 20 bytes per object. */
function placements() {
  let size = 0;
  let numbers = new Uint32Array(FIRST_CAPACITY);
  let firsts = new Float64Array(FIRST_CAPACITY);
  let seconds = new Float64Array(FIRST_CAPACITY);
  return {
    add(number: number, first: number, second: number): void {
      if (size === numbers.length) {
        const [moreNumbers, moreFirsts, moreSeconds] = [numbers, firsts, seconds];
        numbers = new Uint32Array(2 * size);
        firsts = new Float64Array(2 * size);
        seconds = new Float64Array(2 * size);
        numbers.set(moreNumbers);
        firsts.set(moreFirsts);
        seconds.set(moreSeconds);
      }
      numbers[size] = number;
      firsts[size] = first;
      seconds[size] = second;
      size += 1;
    },
    *sorted(): Generator<{ readonly number: number; readonly first: number; readonly second: number }> {
      const order = Uint32Array.from({ length: size }, (_, index) => index);
      order.sort((a, b) => (firsts[a] ?? 0) - (firsts[b] ?? 0) || (seconds[a] ?? 0) - (seconds[b] ?? 0));
      for (const index of order) {
        yield { number: numbers[index] ?? 0, first: firsts[index] ?? 0, second: seconds[index] ?? 0 };
      }
    },
  };
}

/** Reads ahead, for callers that read at increasing offsets. Bytes that were returned are never overwritten. */
function readingAhead(source: ByteSource): ByteSource {
  let start = 0;
  let window: Uint8Array = new Uint8Array();
  return {
    ...source,
    async read(offset, length) {
      if (offset < start || offset + length > start + window.length) {
        start = offset;
        window = await source.read(offset, Math.max(length, Math.min(READ_AHEAD, source.size - offset)));
      }
      return window.subarray(offset - start, offset - start + length);
    },
  };
}
