/**
 * Writing ASN.1 in DER (X.690): the few types that certificates' and signatures' structures are made of. What is taken
 * over from elsewhere (certificates, names, attributes) goes in as the bytes it came in, never decoded and encoded again.
 */

/** The contents under a tag: identifier octet, shortest definite length, contents. */
export function encode(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  return encodeAll(tag, contents);
}

/** The same of a list, however long it is. */
export function encodeAll(tag: number, contents: readonly Uint8Array[]): Uint8Array {
  const length = contents.reduce((sum, part) => sum + part.length, 0);
  const header = [tag, ...encodeLength(length)];
  const encoded = Buffer.allocUnsafe(header.length + length);
  encoded.set(header);
  let position = header.length;
  for (const part of contents) {
    encoded.set(part, position);
    position += part.length;
  }
  return encoded;
}

export const sequence = (...parts: readonly Uint8Array[]): Uint8Array => encode(0x30, ...parts);

/** SET OF: the encodings in ascending order, as DER wants them (X.690 11.6). */
export const setOf = (...parts: readonly Uint8Array[]): Uint8Array => setOfAll(parts);

/** The same of a list, however long it is. */
export const setOfAll = (parts: readonly Uint8Array[]): Uint8Array => encodeAll(0x31, parts.toSorted(Buffer.compare));

/** `[number]` round a whole encoding (EXPLICIT), or in place of a constructed type's own tag (IMPLICIT). */
export const contextConstructed = (number: number, ...parts: readonly Uint8Array[]): Uint8Array =>
  encode(0xa0 | number, ...parts);

/** `[number]` in place of a primitive type's own tag (IMPLICIT). */
export const contextPrimitive = (number: number, contents: Uint8Array): Uint8Array => encode(0x80 | number, contents);

export const octetString = (contents: Uint8Array): Uint8Array => encode(0x04, contents);

/** A BIT STRING whose last octet uses all its bits. */
export const bitString = (contents: Uint8Array): Uint8Array => encode(0x03, Uint8Array.of(0), contents);

export const nullValue = (): Uint8Array => Uint8Array.of(0x05, 0x00);

/** A non-negative INTEGER that fits one octet: version numbers. */
export const smallInteger = (value: number): Uint8Array => Uint8Array.of(0x02, 0x01, value);

/** An OBJECT IDENTIFIER from its dotted form. The arcs are this program's own constants, below 2^31. */
export function objectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return encode(0x06, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

/** UTF-16BE, as BMPString holds it. A character beyond the BMP becomes two surrogates, as Windows writes and reads it. */
export function utf16be(text: string): Uint8Array {
  return Buffer.from(text, 'utf16le').swap16();
}

function encodeLength(length: number): number[] {
  if (length < 0x80) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return [0x80 | octets.length, ...octets];
}

function base128(arc: number): number[] {
  const octets = [arc % 128];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) octets.unshift(128 | (rest % 128));
  return octets;
}
