/**
 * Parses PDF values (ISO 32000-2, 7.2 and 7.3) with limits on nesting and on the number of values. Rejects duplicate
 * keys.
 */

import { pdfErrors } from './errors.ts';
import { isSameValue, type PdfDictionary, type PdfString, type PdfValue } from './values.ts';

const MAX_DEPTH = 64;
/** Limit on the values in one PDF object. In a long document, a flat page tree contains a hundred thousand values. */
const MAX_VALUES = 500_000;
const LONGEST_NAME = 4096;
const LONGEST_NUMBER = 64;

const SPACE = 1;
const DELIMITER = 2;
const CLASSES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return '\0\t\n\f\r '.includes(character) ? SPACE : '()<>[]{}/%'.includes(character) ? DELIMITER : 0;
});
const BACKSLASH = 0x5c;
const ESCAPES: ReadonlyMap<number, number> = new Map(
  [...'nrtbf'].map((letter, index) => [letter.charCodeAt(0), '\n\r\t\b\f'.charCodeAt(index)]),
);
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
const REFERENCE = /^(\d{1,10})[\0\t\n\f\r ]+(\d{1,5})[\0\t\n\f\r ]+R(?![^\0\t\n\f\r ()<>[\]{}/%])/;
/** Number of bytes to examine after an integer, because it may be the first part of a reference. */
const LOOK_AHEAD = 48;

function isOctal(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x37;
}

export class MoreNeeded extends Error {}

/** Decodes a literal string without its parentheses. Every line ending is read as a line feed (7.3.4.2). */
function unescaped(written: Uint8Array): Uint8Array {
  const decoded = Buffer.alloc(written.length);
  let length = 0;
  for (let at = 0; at < written.length; ) {
    const isEscaped = written[at] === BACKSLASH;
    if (isEscaped) at += 1;
    let byte = written[at] ?? 0;
    at += 1;
    if (byte === 0x0d && written[at] === 0x0a) at += 1;
    if (byte === 0x0d) byte = 0x0a;
    if (isEscaped && byte === 0x0a) continue;
    if (isEscaped && isOctal(byte)) {
      let code = byte - 0x30;
      for (const end = at + 2; at < end && isOctal(written[at]); at += 1) code = code * 8 + (written[at] ?? 0) - 0x30;
      byte = code & 0xff;
    } else if (isEscaped) byte = ESCAPES.get(byte) ?? byte;
    decoded[length] = byte;
    length += 1;
  }
  return decoded.subarray(0, length);
}

export interface Parser {
  readonly position: number;
  skipSpace(): void;
  word(): string;
  value(): PdfValue;
}

/**
 * `base` is the file offset of the bytes, or undefined for bytes from an object stream. `isWhole` is true if nothing
 * follows these bytes in the file. If it is false and a value is incomplete, the parser throws `MoreNeeded`.
 */
export function parser(bytes: Uint8Array, base: number | undefined, isWhole: boolean, from = 0): Parser {
  let position = from;
  let room = MAX_VALUES;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const textOf = (start: number, end: number) => buffer.toString('latin1', start, end);

  const malformed = (problem: string) => pdfErrors('pdf-malformed', { offset: (base ?? 0) + position, problem });

  function peek(): number {
    const byte = bytes[position];
    if (byte !== undefined) return byte;
    throw isWhole ? malformed('it ends within a value') : new MoreNeeded();
  }

  function skipSpace(): void {
    for (; position < bytes.length; position += 1) {
      const byte = bytes[position] ?? 0;
      if (byte === 0x25) {
        while (position < bytes.length && bytes[position] !== 0x0a && bytes[position] !== 0x0d) position += 1;
      } else if (CLASSES[byte] !== SPACE) return;
    }
    if (!isWhole) throw new MoreNeeded();
  }

  function word(): string {
    const start = position;
    while (position < bytes.length && position - start <= LONGEST_NAME) {
      if (CLASSES[bytes[position] ?? 0] !== 0) break;
      position += 1;
    }
    if (position === bytes.length && !isWhole) throw new MoreNeeded();
    if (position - start > LONGEST_NAME) throw malformed('a name or keyword is too long');
    return textOf(start, position);
  }

  function name(): string {
    position += 1;
    const written = word();
    if (!written.includes('#')) return written;
    return written.replace(/#([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }

  const string = (start: number, value: Uint8Array, isHex: boolean): PdfString => ({
    kind: 'string',
    bytes: value,
    isHex,
    start: base === undefined ? -1 : base + start,
    end: base === undefined ? -1 : base + position,
  });

  function hexString(): PdfString {
    const start = position;
    const end = bytes.indexOf(0x3e, position);
    if (end < 0) {
      position = bytes.length;
      peek();
    }
    const digits = textOf(start + 1, end).replace(/[\0\t\n\f\r ]/g, '');
    if (!/^[0-9A-Fa-f]*$/.test(digits)) throw malformed('a hexadecimal string contains other characters');
    position = end + 1;
    return string(start, Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex'), true);
  }

  function literalString(): PdfString {
    const start = position;
    let depth = 0;
    do {
      const byte = peek();
      position += 1;
      if (byte === 0x28) depth += 1;
      else if (byte === 0x29) depth -= 1;
      else if (byte === BACKSLASH) {
        peek();
        position += 1;
      }
    } while (depth > 0);
    return string(start, unescaped(bytes.subarray(start + 1, position - 1)), false);
  }

  function numberOrReference(): PdfValue {
    const start = position;
    const digits = /^\d{1,10}$/;
    const text = word();
    if (text.length > LONGEST_NUMBER || !NUMBER.test(text)) {
      position = start;
      throw malformed(`"${text.slice(0, 20)}" is not a value`);
    }
    if (!digits.test(text)) {
      const value = Number(text);
      return text.includes('.') && Number.isInteger(value) ? { kind: 'real', value } : value;
    }
    const ahead = textOf(start, start + LOOK_AHEAD);
    if (ahead.length < LOOK_AHEAD && !isWhole) throw new MoreNeeded();
    const found = REFERENCE.exec(ahead);
    if (found === null) return Number(text);
    position = start + found[0].length;
    return { kind: 'reference', number: Number(found[1]), generation: Number(found[2]) };
  }

  function array(depth: number): PdfValue {
    position += 1;
    const items: PdfValue[] = [];
    for (skipSpace(); peek() !== 0x5d; skipSpace()) items.push(valueAt(depth + 1));
    position += 1;
    return { kind: 'array', items };
  }

  function dictionary(depth: number): PdfDictionary {
    position += 2;
    const entries = new Map<string, PdfValue>();
    const ends: (readonly [key: string, start: number, end: number])[] = [];
    for (skipSpace(); peek() !== 0x3e; skipSpace()) {
      if (peek() !== 0x2f) throw malformed('a key of a dictionary is not a name');
      const key = name();
      skipSpace();
      const start = position;
      const value = valueAt(depth + 1);
      const isNew = !entries.has(key);
      if (!isNew && !isSameValue(entries.get(key), value))
        throw malformed(`a dictionary has the key ${key} twice, with different values`);
      if (!isNew) continue;
      entries.set(key, value);
      ends.push([key, start, position]);
    }
    position += 1;
    if (peek() !== 0x3e) throw malformed('a dictionary does not end with >>');
    position += 1;
    return {
      kind: 'dictionary',
      entries,
      // Raw bytes are computed only on demand, because few values are written to the file again.
      get raw() {
        return new Map(ends.map(([key, start, end]) => [key, bytes.subarray(start, end)]));
      },
    };
  }

  function valueAt(depth: number): PdfValue {
    if (depth > MAX_DEPTH) throw malformed(`values are nested more than ${MAX_DEPTH} deep`);
    room -= 1;
    if (room < 0) throw pdfErrors('pdf-too-large', { limit: MAX_VALUES, what: 'values in one object' });
    skipSpace();
    const byte = peek();
    if (byte === 0x2f) return { kind: 'name', name: name() };
    if (byte === 0x28) return literalString();
    if (byte === 0x5b) return array(depth);
    if (byte === 0x3c) {
      if (position + 1 === bytes.length && !isWhole) throw new MoreNeeded();
      return bytes[position + 1] === 0x3c ? dictionary(depth) : hexString();
    }
    const start = position;
    if (byte !== 0x74 && byte !== 0x66 && byte !== 0x6e) return numberOrReference();
    const keyword = word();
    if (keyword === 'true' || keyword === 'false') return keyword === 'true';
    if (keyword === 'null') return null;
    position = start;
    throw malformed(`"${keyword.slice(0, 20)}" is not a value`);
  }

  return {
    get position() {
      return position;
    },
    skipSpace,
    word,
    value: () => valueAt(0),
  };
}
