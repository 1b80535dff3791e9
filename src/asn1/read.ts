/**
 * Reads BER and DER (X.690) one level at a time. Elements are views of the input, so that parts can be copied byte for
 * byte.
 */

import { plural } from '../errors/plural.ts';
import { asn1Errors } from './errors.ts';

export interface Element {
  readonly tag: number;
  readonly bytes: Uint8Array;
  readonly contents: Uint8Array;
  /** Error messages contain offsets from the start of the outermost element. */
  readonly offset: number;
  readonly rules: Rules;
}

/** DER permits only one encoding of each value: lengths are definite and as short as possible. */
export type Rules = 'BER' | 'DER';

/** Real data has up to about six levels of indefinite length. */
const MAX_INDEFINITE_DEPTH = 32;
/** An element of indefinite length reads all parts inside it, at any depth, to find its own end. */
const MAX_INDEFINITE_PARTS = 100_000;
/** Even a signature with 10,000 certificates has fewer parts. */
const MAX_PARTS = 65_536;
const MAX_FIELDS = 64;
const END_OF_CONTENTS = 0x00;
const END_OF_CONTENTS_LENGTH = 2;

/** Ignores bytes after the element. */
export function readElement(bytes: Uint8Array, what: string): Element {
  return readAt(bytes, 0, what, 0, 'BER');
}

/** The element and all its parts must be DER. */
export function readDer(bytes: Uint8Array, what: string): Element {
  return readAt(bytes, 0, what, 0, 'DER');
}

function readAt(bytes: Uint8Array, start: number, what: string, base: number, rules: Rules): Element {
  const header = readHeader(bytes, start, what, base);
  const { tag } = header;
  const offset = base + start;
  const inside = start + header.length;
  if (tag === END_OF_CONTENTS) throw malformed(what, 'an end of contents instead of a value', offset);
  if (rules === 'DER' && !header.isShortest) throw malformed(what, 'a length that is not the shortest (DER)', offset);
  if (header.contentsLength === undefined) {
    const end = endOfIndefinite(bytes, inside, what, base);
    const contents = bytes.subarray(inside, end);
    return { tag, bytes: bytes.subarray(start, end + END_OF_CONTENTS_LENGTH), contents, offset, rules };
  }
  const end = inside + header.contentsLength;
  return { tag, bytes: bytes.subarray(start, end), contents: bytes.subarray(inside, end), offset, rules };
}

export function parts(element: Element, what: string): Element[] {
  return partsUpTo(MAX_PARTS, element, what);
}

function partsUpTo(most: number, element: Element, what: string): Element[] {
  const found = firstParts(element, what, most + 1);
  if (found.length > most) throw malformed(what, `more than ${most} parts`, element.offset);
  return found;
}

export function firstParts(element: Element, what: string, most: number): Element[] {
  if ((element.tag & 0x20) === 0) throw malformed(what, 'a primitive value instead of parts', element.offset);
  const found: Element[] = [];
  let position = 0;
  const start = element.offset + (element.contents.byteOffset - element.bytes.byteOffset);
  while (position < element.contents.length && found.length < most) {
    const part = readAt(element.contents, position, what, start, element.rules);
    found.push(part);
    position += part.bytes.length;
  }
  return found;
}

/** Reads the parts in order. `end` throws if there are more. */
export function fieldsOf(element: Element, tag: number, what: string) {
  expectTag(element, tag, what);
  const all = partsUpTo(MAX_FIELDS, element, what);
  let index = 0;
  const any = (field: string): Element => {
    const part = all[index];
    if (part === undefined) throw malformed(`${what}, ${field}`, 'missing', element.offset + element.bytes.length);
    index += 1;
    return part;
  };
  return {
    any,
    next: (wanted: number, field: string) => expectTag(any(field), wanted, `${what}, ${field}`),
    optional: (wanted: number) => (all[index]?.tag === wanted ? any('') : undefined),
    end(): void {
      const more = all[index];
      if (more !== undefined) throw malformed(what, `an unexpected part with the tag 0x${hex(more.tag)}`, more.offset);
    },
  };
}

/** Returns the only element in an EXPLICIT tag or a SET. */
export function onlyPart(element: Element, what: string): Element {
  const [only, ...more] = firstParts(element, what, 2);
  if (only === undefined || more.length > 0) {
    throw malformed(what, only === undefined ? 'empty' : 'more than one value', element.offset);
  }
  return only;
}

export function expectTag(element: Element, tag: number, what: string): Element {
  if (element.tag !== tag) {
    throw malformed(what, `tag 0x${hex(element.tag)} instead of 0x${hex(tag)}`, element.offset);
  }
  return element;
}

export function objectIdentifierOf(element: Element, what: string): string {
  const { contents } = expectTag(element, 0x06, what);
  const last = contents.at(-1);
  if (last === undefined || last >= 0x80 || contents.length > 64) {
    throw malformed(what, 'not an object identifier', element.offset);
  }
  let dotted = '';
  let isFirst = true;
  let arc: number | bigint = 0;
  for (const octet of contents) {
    if (isFirst && octet === 0x80) throw malformed(what, 'not the shortest object identifier', element.offset);
    arc = withOctet(arc, octet & 0x7f);
    isFirst = octet < 0x80;
    if (!isFirst) continue;
    dotted = dotted === '' ? firstArcs(arc) : `${dotted}.${arc}`;
    arc = 0;
  }
  return dotted;
}

/** The arcs of an object identifier can have any length. Only large arcs are read as a slow bigint. */
function withOctet(arc: number | bigint, bits: number): number | bigint {
  if (typeof arc === 'bigint') return (arc << 7n) | BigInt(bits);
  const next = arc * 128 + bits;
  return next <= Number.MAX_SAFE_INTEGER ? next : (BigInt(arc) << 7n) | BigInt(bits);
}

/** X.690 encodes the first two arcs as one number. */
function firstArcs(arc: number | bigint): string {
  if (arc >= 80) return `2.${BigInt(arc) - 80n}`;
  return `${Math.floor(Number(arc) / 40)}.${Number(arc) % 40}`;
}

export function algorithmOf(element: Element, what: string): string {
  return objectIdentifierOf(fieldsOf(element, 0x30, what).next(0x06, 'identifier'), what);
}

export function bitsOf(element: Element, what: string): Uint8Array {
  return expectTag(element, 0x03, what).contents.subarray(1);
}

export function octetsOf(element: Element, what: string): Uint8Array {
  if (element.tag !== 0x24 || element.rules === 'DER') return expectTag(element, 0x04, what).contents;
  return Buffer.concat(parts(element, what).map((piece) => expectTag(piece, 0x04, what).contents));
}

/** `contentsLength` is undefined for an indefinite length. */
function readHeader(bytes: Uint8Array, position: number, what: string, offset: number) {
  const tag = bytes[position];
  const first = bytes[position + 1];
  if (tag === undefined || first === undefined) throw malformed(what, 'cut off', offset + position);
  if ((tag & 0x1f) === 0x1f) throw malformed(what, 'a tag number above 30', offset + position);
  if (first === 0x80) {
    if ((tag & 0x20) === 0) throw malformed(what, 'a primitive value with an indefinite length', offset + position);
    return { tag, length: 2, contentsLength: undefined, isShortest: false };
  }
  const lengthOctets = first < 0x80 ? 0 : first & 0x7f;
  if (lengthOctets > 6) throw malformed(what, 'an impossible length', offset + position);
  let contentsLength = lengthOctets === 0 ? first : 0;
  for (let index = 0; index < lengthOctets; index += 1) {
    const octet = bytes[position + 2 + index];
    if (octet === undefined) throw malformed(what, 'cut off', offset + position);
    contentsLength = contentsLength * 256 + octet;
  }
  const length = 2 + lengthOctets;
  const available = bytes.length - position - length;
  if (contentsLength > available) {
    throw malformed(
      what,
      `a length of ${plural(contentsLength, 'byte')}, but only ${available} follow`,
      offset + position,
    );
  }
  const isShortest = lengthOctets === 0 || contentsLength >= Math.max(0x80, 256 ** (lengthOctets - 1));
  return { tag, length, contentsLength, isShortest };
}

/** This function is not recursive, because deep nesting would exhaust the stack. */
function endOfIndefinite(bytes: Uint8Array, start: number, what: string, offset: number): number {
  let open = 1;
  let position = start;
  for (let count = 0; ; count += 1) {
    if (count > MAX_INDEFINITE_PARTS) throw malformed(what, `more than ${MAX_INDEFINITE_PARTS} parts`, offset);
    const header = readHeader(bytes, position, what, offset);
    if (header.tag === END_OF_CONTENTS) {
      if (bytes[position + 1] !== 0) throw malformed(what, 'an end of contents with contents', offset + position);
      open -= 1;
      if (open === 0) return position;
    } else if (header.contentsLength === undefined) {
      open += 1;
      if (open > MAX_INDEFINITE_DEPTH) throw malformed(what, 'nested too deeply', offset + position);
    }
    position += header.length + (header.contentsLength ?? 0);
  }
}

function malformed(what: string, problem: string, offset: number) {
  return asn1Errors('asn1-malformed', { what, problem, offset });
}

function hex(octet: number): string {
  return octet.toString(16).padStart(2, '0');
}
