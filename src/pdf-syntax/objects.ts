import type { ByteSource } from '../bytes/byte-source.ts';
import { pdfErrors } from './errors.ts';
import { decodeStream, LARGEST_STREAM } from './filters.ts';
import { MoreNeeded, type Parser, parser } from './parse.ts';
import { isInteger, isOf, type PdfValue } from './values.ts';

export interface IndirectObject {
  readonly number: number;
  readonly generation: number;
  readonly value: PdfValue;
  readonly raw: Uint8Array;
  /** Offset of the object in the file, or -1 if it is in an object stream. */
  readonly offset: number;
  /** Offset of the end of `endobj` or of the `stream` keyword, or -1 if the object is in an object stream. */
  readonly end: number;
  readonly streamStart: number | undefined;
}

/** Number of bytes in the first read of an object. Each further read is `GROWTH` times as long as the one before. */
const FIRST_WINDOW = 1024;
const GROWTH = 8;
/** A signature of 16 MiB takes twice as many bytes in hexadecimal digits. */
const LARGEST_WINDOW = FIRST_WINDOW * GROWTH ** 5;

export async function parseAt<T>(
  source: ByteSource,
  offset: number,
  read: (from: Parser, bytes: Uint8Array) => T,
): Promise<T> {
  for (let window = FIRST_WINDOW; window <= LARGEST_WINDOW; window *= GROWTH) {
    const length = Math.max(0, Math.min(window, source.size - offset));
    const bytes = await source.read(offset, length);
    try {
      return read(parser(bytes, offset, offset + length >= source.size), bytes);
    } catch (thrown) {
      if (!(thrown instanceof MoreNeeded)) throw thrown;
    }
  }
  throw pdfErrors('pdf-too-large', { limit: LARGEST_WINDOW, what: 'bytes in one object' });
}

export async function readObjectAt(source: ByteSource, offset: number): Promise<IndirectObject> {
  return parseAt(source, offset, (from, bytes) => {
    const header = [0, 1, 2].map(() => {
      from.skipSpace();
      return from.word();
    });
    const [number = '', generation = '', keyword] = header;
    if (!/^\d{1,10}$/.test(number) || !/^\d{1,5}$/.test(generation) || keyword !== 'obj') {
      throw pdfErrors('pdf-malformed', { offset, problem: 'there is no object' });
    }
    from.skipSpace();
    const start = from.position;
    const value = from.value();
    const raw = bytes.subarray(start, from.position);
    from.skipSpace();
    const end = from.word();
    if (end !== 'endobj' && end !== 'stream')
      throw pdfErrors('pdf-malformed', { offset, problem: 'an object does not end' });
    if (end === 'stream' && from.position + 2 > bytes.length && offset + bytes.length < source.size)
      throw new MoreNeeded();
    return {
      number: Number(number),
      generation: Number(generation),
      value,
      raw,
      offset,
      end: offset + from.position,
      streamStart: end === 'stream' ? offset + afterLineEnd(bytes, from.position) : undefined,
    };
  });
}

/** The `stream` keyword must be followed by CR LF or LF (7.3.8.1). */
function afterLineEnd(bytes: Uint8Array, position: number): number {
  const length = bytes[position] === 0x0d && bytes[position + 1] === 0x0a ? 2 : bytes[position] === 0x0a ? 1 : 0;
  if (length > 0) return position + length;
  throw pdfErrors('pdf-malformed', { offset: position, problem: 'no end of line follows the keyword of a stream' });
}

export async function readStream(
  source: ByteSource,
  { value, streamStart }: IndirectObject,
  length: PdfValue,
): Promise<Buffer> {
  const offset = streamStart ?? 0;
  const malformed = (problem: string) => pdfErrors('pdf-malformed', { offset, problem });
  if (streamStart === undefined || !isOf(value, 'dictionary')) throw malformed('there is no stream');
  if (!isInteger(length) || streamStart + length > source.size) throw malformed('the length of a stream is wrong');
  if (length > LARGEST_STREAM) throw pdfErrors('pdf-too-large', { limit: LARGEST_STREAM, what: 'bytes in one stream' });
  await parseAt(source, streamStart + length, (from) => {
    from.skipSpace();
    if (from.word() !== 'endstream') throw malformed('the length of a stream is wrong');
  });
  const encoded = Buffer.from(await source.read(streamStart, length));
  return decodeStream(encoded, value, malformed);
}
