/** Decodes streams that are part of the structure of a document (ISO 32000-2, 7.4). Image filters are not supported. */

import { constants, inflateSync } from 'node:zlib';
import { pdfErrors } from './errors.ts';
import { isInteger, isOf, nameOf, type PdfDictionary, type PdfValue } from './values.ts';

/** Largest size in bytes that an object stream or cross-reference stream may have after decoding. */
export const LARGEST_STREAM = 32 * 1024 * 1024;
const MAX_FILTERS = 8;

type Malformed = (problem: string) => Error;
interface Context {
  readonly parameter: Parameter;
  readonly malformed: Malformed;
}
type Filter = (data: Buffer, context: Context) => Buffer;

/** Abbreviated filter names are meant only for inline images, but readers accept them in all streams. */
const FILTERS: ReadonlyMap<string, Filter> = new Map([
  ['FlateDecode', inflate],
  ['Fl', inflate],
  ['LZWDecode', decodeLzw],
  ['LZW', decodeLzw],
  ['ASCIIHexDecode', decodeHex],
  ['AHx', decodeHex],
  ['ASCII85Decode', decodeBase85],
  ['A85', decodeBase85],
  ['RunLengthDecode', decodeRuns],
  ['RL', decodeRuns],
]);

export function decodeStream(encoded: Buffer, { entries }: PdfDictionary, malformed: Malformed): Buffer {
  const filters = listOf(entries.get('Filter'));
  const parameters = listOf(entries.get('DecodeParms'));
  if (filters.length > MAX_FILTERS) throw malformed(`a stream has more than ${MAX_FILTERS} filters`);
  let data = encoded;
  for (const [index, each] of filters.entries()) {
    const filter = FILTERS.get(nameOf(each) ?? '');
    if (filter === undefined) throw malformed('a stream has a filter that is not supported for objects');
    data = filter(data, { parameter: parameterOf(parameters[index], malformed), malformed });
  }
  return data;
}

function listOf(value: PdfValue | undefined): readonly PdfValue[] {
  if (isOf(value, 'array')) return value.items;
  return value === undefined || value === null ? [] : [value];
}

function parameterOf(value: PdfValue | undefined, malformed: Malformed): Parameter {
  const entries = isOf(value, 'dictionary') ? value.entries : undefined;
  return (key, usual) => {
    const found = entries?.get(key) ?? usual;
    if (isInteger(found) && found <= 65_535) return found;
    throw malformed(`the parameter ${key} of a filter is wrong`);
  };
}

const tooLarge = () => pdfErrors('pdf-too-large', { limit: LARGEST_STREAM, what: 'bytes in one stream' });

function output(expected: number) {
  let memory = Buffer.alloc(expected);
  let size = 0;
  return {
    size: () => size,
    at: (index: number) => memory[index] ?? 0,
    push(byte: number): void {
      if (size === LARGEST_STREAM) throw tooLarge();
      if (size === memory.length) memory = Buffer.concat([memory, Buffer.alloc(size + 1024)]);
      memory[size] = byte;
      size += 1;
    },
    bytes: () => memory.subarray(0, size),
  };
}

/** zlib writes these bytes when it flushes data. Streams from macOS can end with these bytes, without a final block. */
const FLUSHED = Buffer.of(0, 0, 0xff, 0xff);

function inflate(data: Buffer, { parameter, malformed }: Context): Buffer {
  let inflated: Buffer;
  try {
    const finishFlush = data.subarray(-FLUSHED.length).equals(FLUSHED) ? constants.Z_SYNC_FLUSH : constants.Z_FINISH;
    inflated = inflateSync(data, { maxOutputLength: LARGEST_STREAM, finishFlush });
  } catch (thrown) {
    if (thrown instanceof RangeError) throw tooLarge();
    throw malformed('a stream cannot be decompressed');
  }
  return unpredict(inflated, parameter, malformed);
}

const SPACE = /[\0\t\n\f\r ]/g;

function decodeHex(data: Buffer, { malformed }: Context): Buffer {
  const [digits = ''] = data.toString('latin1').replace(SPACE, '').split('>', 1);
  if (!/^[0-9A-Fa-f]*$/.test(digits)) throw malformed('a stream has other characters than hexadecimal digits');
  return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex');
}

function decodeBase85(data: Buffer, { malformed }: Context): Buffer {
  const [digits = ''] = data.toString('latin1').replace(SPACE, '').split('~', 1);
  const out = output(data.length);
  for (let at = 0; at < digits.length; ) {
    const group = digits[at] === 'z' ? '!!!!!' : digits.slice(at, at + 5);
    at += digits[at] === 'z' ? 1 : 5;
    const value = [...group.padEnd(5, 'u')].reduce((sum, each) => sum * 85 + each.charCodeAt(0) - 0x21, 0);
    if (!/^[!-u]{2,5}$/.test(group) || value > 0xffff_ffff) throw malformed('a stream is not ASCII85');
    for (let index = 1; index < group.length; index += 1) out.push(Math.floor(value / 256 ** (4 - index)) & 0xff);
  }
  return out.bytes();
}

const END_OF_RUNS = 128;

function decodeRuns(data: Buffer, { malformed }: Context): Buffer {
  const out = output(data.length);
  for (let at = 0; at < data.length && data[at] !== END_OF_RUNS; ) {
    const code = data[at] ?? 0;
    const isRun = code > END_OF_RUNS;
    const count = isRun ? 257 - code : code + 1;
    const end = at + (isRun ? 2 : 1 + count);
    if (end > data.length) throw malformed('a stream ends within a run');
    for (let index = 0; index < count; index += 1) out.push(data[at + 1 + (isRun ? 0 : index)] ?? 0);
    at = end;
  }
  return out.bytes();
}

const CLEAR_TABLE = 256;
const END_OF_DATA = 257;
const FIRST_CODE = 258;
const CODES = 4096;

function decodeLzw(data: Buffer, { parameter, malformed }: Context): Buffer {
  const early = parameter('EarlyChange', 1);
  const out = output(2 * data.length);
  // Each code represents either bytes that are already in the output, or the bytes of the previous code plus one byte.
  let table: { readonly start: number; readonly length: number }[] = [];
  let previous: { readonly start: number; readonly length: number } | undefined;
  let bits = 0;
  let width = 9;
  for (const bitsOf = 8 * data.length; bits + width <= bitsOf; ) {
    const byte = bits >> 3;
    const three = ((data[byte] ?? 0) << 16) | ((data[byte + 1] ?? 0) << 8) | (data[byte + 2] ?? 0);
    const code = (three >> (24 - (bits & 7) - width)) & ((1 << width) - 1);
    bits += width;
    if (code === END_OF_DATA) break;
    if (code === CLEAR_TABLE) {
      [table, previous, width] = [[], undefined, 9];
      continue;
    }
    if (previous !== undefined && FIRST_CODE + table.length < CODES) {
      table.push({ start: previous.start, length: previous.length + 1 });
    }
    const start = out.size();
    if (code < CLEAR_TABLE) out.push(code);
    else {
      const found = table[code - FIRST_CODE];
      if (found === undefined) throw malformed('a stream has an unknown code of LZW');
      for (let index = 0; index < found.length; index += 1) out.push(out.at(found.start + index));
    }
    previous = { start, length: out.size() - start };
    const next = FIRST_CODE + table.length + early;
    width = next >= 2048 ? 12 : next >= 1024 ? 11 : next >= 512 ? 10 : 9;
  }
  return unpredict(out.bytes(), parameter, malformed);
}

/** Returns the integer that /DecodeParms has for `key`, or `usual` if it has none. */
type Parameter = (key: string, usual: number) => number;

function unpredict(data: Buffer, parameter: Parameter, malformed: (problem: string) => Error): Buffer {
  const predictor = parameter('Predictor', 1);
  if (predictor <= 1) return data;
  const bits = parameter('BitsPerComponent', 8);
  const pixel = Math.ceil((parameter('Colors', 1) * bits) / 8);
  const row = Math.ceil((parameter('Colors', 1) * bits * parameter('Columns', 1)) / 8);
  if (row === 0) throw malformed('a stream has rows without columns');
  if (predictor === 2 && bits === 8) return undoTiff(data, pixel, row);
  if (predictor < 10) throw malformed('a stream has a predictor for pictures');
  const rows = Math.ceil(data.length / (row + 1));
  const out = Buffer.alloc(Math.min(rows * row, data.length));
  let length = 0;
  for (let index = 0; index < rows; index += 1) {
    const start = index * (row + 1);
    const kind = data[start] ?? 0;
    if (kind > 4) throw malformed('a stream has an unknown predictor');
    const end = Math.min(row, data.length - start - 1);
    const at = index * row;
    for (let column = 0; column < end; column += 1) {
      const left = column < pixel ? 0 : (out[at + column - pixel] ?? 0);
      const up = index === 0 ? 0 : (out[at + column - row] ?? 0);
      const corner = index === 0 || column < pixel ? 0 : (out[at + column - row - pixel] ?? 0);
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][kind] ?? 0;
      out[at + column] = (data[start + 1 + column] ?? 0) + predicted;
    }
    length = at + end;
  }
  return out.subarray(0, length);
}

function undoTiff(data: Buffer, pixel: number, row: number): Buffer {
  const out = Buffer.from(data);
  for (let at = pixel; at < out.length; at += 1) {
    if (at % row >= pixel) out[at] = (out[at] ?? 0) + (out[at - pixel] ?? 0);
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const distances = [left, up, corner].map((each) => Math.abs(left + up - corner - each));
  const [toLeft = 0, toUp = 0, toCorner = 0] = distances;
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
