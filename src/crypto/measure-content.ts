import { createHash, type Hash } from 'node:crypto';
import { endianness } from 'node:os';
import type { ByteSource } from '../bytes/byte-source.ts';
import { isBytes, nextPiece, type Patch, type Piece, readPieces, surveyPieces } from '../bytes/pieces.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from './algorithms.ts';

/**
 * Bytes that a digest covers, in digest order. Ranges may overlap, or go back in the file. Every iteration must yield
 * the same pieces. Ranges in file order are digested while the file is copied.
 */
export type Content = Iterable<Piece>;

/**
 * SUM16 is the core of the PE checksum: the one's-complement sum of the little-endian words at even file offsets. SUM16
 * ignores bytes that are not in the file, and requires content in file order.
 */
export type Measure = ContentDigest | 'SUM16';

/** Old signatures use MD5, which the service does not support. */
export type ContentDigest = DigestAlgorithm | 'MD5';

export interface Measurement {
  readonly digests: ReadonlyMap<ContentDigest, Uint8Array>;
  readonly sum16: number | undefined;
}

/**
 * Reads the content once, in the pass in which signing writes the temporary file. `draft` returns edits that do not
 * depend on the digest, for formats that move content. The final edits then change only other bytes.
 */
export type MeasureContent = (
  source: ByteSource,
  content: Content,
  measures: readonly Measure[],
  draft?: () => Patch,
) => Promise<Measurement>;

export interface Measuring {
  /** Chunks within the ranges of the content must come in order and without gaps. */
  update(chunk: Uint8Array, offset: number): void;
  finish(): Measurement;
}

const NODE_NAME: Readonly<Record<ContentDigest, string>> = { ...NODE_DIGEST_NAME, MD5: 'md5' };

export async function measureContent(
  source: ByteSource,
  content: Content,
  measures: readonly Measure[],
): Promise<Measurement> {
  const measuring = startMeasuring(content, measures, source.size);
  if (measuring !== undefined) return readInOrder(source, content, measuring);
  const hashes = hashesFor(measures);
  for await (const chunk of readPieces(source, content)) for (const hash of hashes.values()) hash.update(chunk);
  return { digests: digestsOf(hashes), sum16: undefined };
}

/** Returns the SHA-256 digest of the whole source in hexadecimal. */
export async function sha256Of(source: ByteSource): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of source.stream()) hash.update(chunk);
  return hash.digest('hex');
}

function hashesFor(measures: readonly Measure[]): Map<ContentDigest, Hash> {
  const digests = measures.filter((measure) => measure !== 'SUM16');
  return new Map(digests.map((algorithm) => [algorithm, createHash(NODE_NAME[algorithm])]));
}

function digestsOf(hashes: ReadonlyMap<ContentDigest, Hash>): Map<ContentDigest, Uint8Array> {
  return new Map([...hashes].map(([algorithm, hash]) => [algorithm, hash.digest()]));
}

/** Returns undefined if the content is not in file order. */
export function startMeasuring(content: Content, measures: readonly Measure[], size: number): Measuring | undefined {
  if (!surveyPieces(content, size).isInFileOrder) return undefined;
  const hashes = hashesFor(measures);
  const sums = measures.includes('SUM16');
  const pieces = content[Symbol.iterator]();
  let piece = nextPiece(pieces);
  let sum16 = 0;

  return {
    update(chunk, offset) {
      const chunkEnd = offset + chunk.length;
      for (; piece !== undefined; piece = nextPiece(pieces)) {
        if (isBytes(piece)) {
          for (const hash of hashes.values()) hash.update(piece);
          continue;
        }
        const start = Math.max(piece.start, offset);
        const end = Math.min(piece.end, chunkEnd);
        if (start < end) {
          const part = chunk.subarray(start - offset, end - offset);
          for (const hash of hashes.values()) hash.update(part);
          if (sums) sum16 = addSum16(sum16, part, start);
        }
        if (piece.end > chunkEnd) return;
      }
    },
    finish() {
      for (; piece !== undefined; piece = nextPiece(pieces)) {
        if (isBytes(piece)) for (const hash of hashes.values()) hash.update(piece);
      }
      return { digests: digestsOf(hashes), sum16: sums ? sum16 : undefined };
    },
  };
}

async function readInOrder(source: ByteSource, content: Content, measuring: Measuring): Promise<Measurement> {
  let start: number | undefined;
  let end = 0;
  for (const piece of content) {
    if (isBytes(piece)) continue;
    start ??= piece.start;
    end = piece.end;
  }
  let offset = start ?? 0;
  for await (const chunk of source.stream(offset, end)) {
    measuring.update(chunk, offset);
    offset += chunk.length;
  }
  return measuring.finish();
}

const LITTLE_ENDIAN = endianness() === 'LE';

/**
 * Adds the bytes at `offset` of the file. Aligned memory is added 32 bits at a time, because 2^16 ≡ 1 (mod 0xffff). The
 * halves of the sum are exchanged if words begin at odd addresses. If half of a word is missing, it counts as zero.
 */
export function addSum16(sum: number, bytes: Uint8Array, offset: number): number {
  const head = Math.min((4 - (bytes.byteOffset % 4)) % 4, bytes.length);
  const words = (bytes.length - head) >>> 2;
  let total = sumBytes(bytes, 0, head) + sumWords(bytes, head, words) + sumBytes(bytes, head + words * 4, bytes.length);
  total = fold16(total);
  const exchanged = (bytes.byteOffset + offset) % 2 !== 0;
  return fold16(sum + (exchanged ? exchange(total) : total));
}

function fold16(total: number): number {
  if (total <= 0xffff) return total;
  return total % 0xffff || 0xffff;
}

/** A byte is the low half of a word at an even address in memory, and the high half at an odd address. */
function sumBytes(bytes: Uint8Array, start: number, end: number): number {
  let sum = 0;
  for (let index = start; index < end; index++) {
    const byte = bytes[index] ?? 0;
    sum += (bytes.byteOffset + index) % 2 === 0 ? byte : byte << 8;
  }
  return sum;
}

/** A double holds the exact sum of 2^21 words of 32 bits. All chunks are shorter. */
function sumWords(bytes: Uint8Array, start: number, count: number): number {
  if (count === 0) return 0; // The chunk ends before the next aligned word, and an array cannot start between words.
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + start, count);
  let total = 0;
  for (let index = 0; index < count; index++) total += words[index] as number;
  const sum = fold16(total);
  return LITTLE_ENDIAN ? sum : exchange(sum);
}

function exchange(sum: number): number {
  return ((sum & 0xff) << 8) | (sum >>> 8);
}
