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
  const octets: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    for (let bits = 28; bits > 0; bits -= 7) if (arc >>> bits > 0) octets.push(0x80 | ((arc >>> bits) & 0x7f));
    octets.push(arc & 0x7f);
  }
  return encode(0x06, Uint8Array.from(octets));
}

/** UTF-16BE, as BMPString holds it. A character beyond the BMP becomes two surrogates, as Windows writes and reads it. */
export function utf16be(text: string): Uint8Array {
  return Buffer.from(text, 'utf16le').swap16();
}
