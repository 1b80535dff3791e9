export type PdfValue =
  | null
  | boolean
  | number
  | PdfReal
  | PdfName
  | PdfString
  | PdfArray
  | PdfDictionary
  | PdfReference;

/** A whole number that is written as `2.0`. In flags, angles and offsets, some PDF readers accept only `2`. */
export interface PdfReal {
  readonly kind: 'real';
  readonly value: number;
}

export interface PdfName {
  readonly kind: 'name';
  /** The name without its slash, with `#` codes decoded. Each character represents one byte. */
  readonly name: string;
}

export interface PdfString {
  readonly kind: 'string';
  readonly bytes: Uint8Array;
  readonly isHex: boolean;
  /** Byte range in the file, including the brackets. Both offsets are -1 for a string in an object stream. */
  readonly start: number;
  readonly end: number;
}

export interface PdfArray {
  readonly kind: 'array';
  readonly items: readonly PdfValue[];
}

export interface PdfDictionary {
  readonly kind: 'dictionary';
  readonly entries: ReadonlyMap<string, PdfValue>;
  readonly raw: ReadonlyMap<string, Uint8Array>;
}

export interface PdfReference {
  readonly kind: 'reference';
  readonly number: number;
  readonly generation: number;
}

type Kinds = Extract<PdfValue, object>;

export function isOf<Kind extends Kinds['kind']>(
  value: PdfValue | undefined,
  kind: Kind,
): value is Extract<Kinds, { readonly kind: Kind }> {
  return typeof value === 'object' && value?.kind === kind;
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

export function isInteger(value: PdfValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

export function numberOf(value: PdfValue | undefined): number | undefined {
  if (isOf(value, 'real')) return value.value;
  return typeof value === 'number' ? value : undefined;
}

export function nameOf(value: PdfValue | undefined): string | undefined {
  return isOf(value, 'name') ? value.name : undefined;
}

/**
 * Decodes UTF-16BE and UTF-8 with a byte order mark, and all other text as Latin-1 (similar to PDFDocEncoding,
 * 7.9.2.2).
 */
export function textOf(value: PdfValue | undefined): string | undefined {
  if (!isOf(value, 'string')) return undefined;
  const bytes = Buffer.from(value.bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    return Buffer.from(bytes.subarray(2, bytes.length & ~1))
      .swap16()
      .toString('utf16le');
  }
  if (bytes.subarray(0, 3).toString('hex') === 'efbbbf') return bytes.subarray(3).toString('utf8');
  return bytes.toString('latin1');
}

export const keyOf = (value: PdfValue | undefined): string =>
  isOf(value, 'reference') ? `${value.number} ${value.generation}` : '';

export function isSameValue(a: PdfValue | undefined, b: PdfValue | undefined): boolean {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b;
  if (a.kind === 'real') return b.kind === 'real' && a.value === b.value;
  if (a.kind === 'name') return b.kind === 'name' && a.name === b.name;
  if (a.kind === 'string') return b.kind === 'string' && Buffer.compare(a.bytes, b.bytes) === 0;
  if (a.kind === 'reference') {
    return b.kind === 'reference' && a.number === b.number && a.generation === b.generation;
  }
  if (a.kind === 'array') {
    return (
      b.kind === 'array' &&
      a.items.length === b.items.length &&
      a.items.every((item, index) => isSameValue(item, b.items[index]))
    );
  }
  return b.kind === 'dictionary' && differingKeys(a, b).length === 0;
}

export function differingKeys(a: PdfDictionary, b: PdfDictionary): readonly string[] {
  const keys = new Set([...a.entries.keys(), ...b.entries.keys()]);
  return [...keys].filter((key) => !isSameValue(a.entries.get(key), b.entries.get(key)));
}
