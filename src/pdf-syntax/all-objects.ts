import type { PdfDocument } from './document.ts';
import type { IndirectObject } from './objects.ts';
import { isOf, type PdfReference, type PdfValue } from './values.ts';

/**
 * Throws `pdf-cross-reference-broken` if an object in use is not at its offset in the cross-reference table or stream.
 */
export async function forEachObject(document: PdfDocument, visit: (object: IndirectObject) => void): Promise<void> {
  const { nextNumber } = document;
  // There may be millions of objects. In the order in which they are stored, each part of the file is read only once.
  const places = new Float64Array(nextNumber);
  const used: number[] = [];
  for (let number = 0; number < nextNumber; number += 1) {
    const entry = document.entry(number);
    if (entry === undefined || entry.type === 'free') continue;
    places[number] = entry.type === 'in-file' ? entry.offset : -entry.stream;
    used.push(number);
  }
  for (const number of used.sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0))) {
    const found = await document.object(number);
    if (found !== undefined) visit(found);
  }
}

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
