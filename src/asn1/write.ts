/**
 * Writes DER (X.690). Existing certificates, names and attributes are copied as bytes, because encoding them again
 * could change them.
 */

import { memoize } from '../bytes/reuse.ts';

export function encode(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  return encodeAll(tag, contents);
}

/** Accepts a list of any length, whereas the number of spread arguments is limited. */
export function encodeAll(tag: number, contents: readonly Uint8Array[]): Uint8Array {
  const length = contents.reduce((sum, part) => sum + part.length, 0);
  const lengthOctets = length < 0x80 ? 0 : Math.ceil((32 - Math.clz32(length)) / 8);
  const encoded = Buffer.allocUnsafe(2 + lengthOctets + length);
  encoded[0] = tag;
  encoded[1] = lengthOctets === 0 ? length : 0x80 | lengthOctets;
  if (lengthOctets > 0) encoded.writeUIntBE(length, 2, lengthOctets);
  let position = 2 + lengthOctets;
  for (const part of contents) {
    encoded.set(part, position);
    position += part.length;
  }
  return encoded;
}

export const sequence = (...parts: readonly Uint8Array[]): Uint8Array => encode(0x30, ...parts);

/** DER requires that the elements of a SET OF are sorted by their encodings (X.690, 11.6). */
export const setOf = (...parts: readonly Uint8Array[]): Uint8Array => setOfAll(parts);

export const setOfAll = (parts: readonly Uint8Array[]): Uint8Array => encodeAll(0x31, parts.toSorted(Buffer.compare));

/** Encodes the tag `[number]` EXPLICIT, or IMPLICIT for a constructed type. */
export const contextConstructed = (number: number, ...parts: readonly Uint8Array[]): Uint8Array =>
  encode(0xa0 | number, ...parts);

/** Encodes the tag `[number]` IMPLICIT for a primitive type. */
export const contextPrimitive = (number: number, contents: Uint8Array): Uint8Array => encode(0x80 | number, contents);

export const octetString = (contents: Uint8Array): Uint8Array => encode(0x04, contents);

export const bitString = (contents: Uint8Array): Uint8Array => encode(0x03, Uint8Array.of(0), contents);

export const nullValue = (): Uint8Array => Uint8Array.of(0x05, 0x00);

export const smallInteger = (value: number): Uint8Array => Uint8Array.of(0x02, 0x01, value);

const MOST_IDENTIFIERS = 500;
/** The arcs of all identifiers in this program are below 2^31. */
export const objectIdentifier = memoize(MOST_IDENTIFIERS, String, encodeIdentifier);

function encodeIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const octets: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    for (let bits = 28; bits > 0; bits -= 7) if (arc >>> bits > 0) octets.push(0x80 | ((arc >>> bits) & 0x7f));
    octets.push(arc & 0x7f);
  }
  return encode(0x06, Uint8Array.from(octets));
}

/** In a BMPString on Windows, a character outside the BMP becomes two surrogates. */
export function utf16be(text: string): Uint8Array {
  return Buffer.from(text, 'utf16le').swap16();
}
