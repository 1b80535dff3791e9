import { isSameBytes } from '../../../bytes/byte-source.ts';
import type { PdfDocument } from '../../../pdf-syntax/document.ts';
import type { IndirectObject } from '../../../pdf-syntax/objects.ts';
import { findEndstream, streamLength } from '../../../pdf-syntax/stream-end.ts';
import { isOf, type PdfValue } from '../../../pdf-syntax/values.ts';

type Reached = Pick<IndirectObject, 'value' | 'streamStart'> & {
  /** True if the object has a different generation from the reference to it, so that only some readers find it. */
  readonly isStale?: true;
};

export const NOTHING: Reached = { value: null, streamStart: undefined };

export async function isExact(document: PdfDocument, value: PdfValue): Promise<boolean> {
  const entry = isOf(value, 'reference') ? document.entry(value.number) : undefined;
  return !isOf(value, 'reference') || entry === undefined || document.isExact(value.number, entry);
}

/** Follows a reference once. Only some readers follow a reference that leads to another reference. */
export async function reach(document: PdfDocument, value: PdfValue): Promise<Reached> {
  if (!isOf(value, 'reference')) return { value, streamStart: undefined };
  const object = await document.object(value.number);
  if (object === undefined) return NOTHING;
  return object.generation === value.generation ? object : { ...object, isStale: true };
}

/** Sorts the objects by object stream, so that each stream is decoded only once. */
export function inStoredOrder<T>(
  document: PdfDocument,
  items: readonly T[],
  referenceIn: (item: T) => PdfValue,
): readonly T[] {
  const placed = items.map((item) => {
    const value = referenceIn(item);
    const entry = isOf(value, 'reference') ? document.entry(value.number) : undefined;
    return { item, place: entry?.type === 'in-stream' ? -entry.stream : entry?.type === 'in-file' ? entry.offset : 0 };
  });
  return placed.sort((a, b) => a.place - b.place).map(({ item }) => item);
}

const PIECE = 256 * 1024;

/**
 * Returns the end offset of the signed stream if both streams have identical bytes. Returns 0 if neither value is a
 * stream.
 */
export async function endOfSame(
  signed: PdfDocument,
  old: Reached,
  last: PdfDocument,
  now: Reached,
): Promise<number | undefined> {
  if (old.streamStart === undefined && now.streamStart === undefined) return 0;
  if (old.streamStart === undefined || now.streamStart === undefined) return undefined;
  const length = await streamLength(signed, old);
  // A wrong /Length may become correct as the file grows.
  if (length !== (await streamLength(last, now))) return undefined;
  const { source } = signed;
  const isSamePlace = old.streamStart === now.streamStart;
  if (length === undefined) return isSamePlace ? findEndstream(source, old.streamStart, source.size) : undefined;
  for (let at = 0; at < length && !isSamePlace; at += PIECE) {
    const size = Math.min(PIECE, length - at);
    const before = await source.read(old.streamStart + at, size);
    if (!isSameBytes(before, await last.source.read(now.streamStart + at, size))) return undefined;
  }
  return old.streamStart + length;
}
