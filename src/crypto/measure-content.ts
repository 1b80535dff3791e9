import { createHash, type Hash } from 'node:crypto';
import type { ByteSource } from '../bytes/byte-source.ts';
import { isBytes, nextPiece, readPieces, surveyPieces } from '../bytes/pieces.ts';
import { NODE_DIGEST_NAME } from './algorithms.ts';
import type { Content, ContentDigest, Measure, Measurement } from './content.ts';
import { addSum16 } from './sum16.ts';

/** Measures content in file order while the file is read from start to end. */
export interface Measuring {
  /** `offset` is the position in the file. Chunks come in order and without gaps inside the content's ranges. */
  update(chunk: Uint8Array, offset: number): void;
  /** Called once, after the last chunk. */
  finish(): Measurement;
}

const NODE_NAME: Readonly<Record<ContentDigest, string>> = { ...NODE_DIGEST_NAME, MD5: 'md5' };

/** Throws `pieces-invalid`. Returns undefined if the content is not in file order. */
export function startMeasuring(content: Content, measures: readonly Measure[], size: number): Measuring | undefined {
  return surveyPieces(content, size).isInFileOrder ? measuringInOrder(content, measures) : undefined;
}

/** Reads and measures the content without writing a file. Throws `pieces-invalid`. */
export async function measureContent(
  source: ByteSource,
  content: Content,
  measures: readonly Measure[],
): Promise<Measurement> {
  const measuring = startMeasuring(content, measures, source.size);
  if (measuring !== undefined) return readInOrder(source, content, measuring);
  if (measures.includes('SUM16')) throw new TypeError('SUM16 is of content in file order');
  const hashes = hashesFor(measures);
  for await (const chunk of readPieces(source, content)) for (const hash of hashes.values()) hash.update(chunk);
  return { digests: digestsOf(hashes), sum16: undefined };
}

function hashesFor(measures: readonly Measure[]): Map<ContentDigest, Hash> {
  const digests = measures.filter((measure) => measure !== 'SUM16');
  return new Map(digests.map((algorithm) => [algorithm, createHash(NODE_NAME[algorithm])]));
}

function digestsOf(hashes: ReadonlyMap<ContentDigest, Hash>): Map<ContentDigest, Uint8Array> {
  return new Map([...hashes].map(([algorithm, hash]) => [algorithm, hash.digest()]));
}

function measuringInOrder(content: Content, measures: readonly Measure[]): Measuring {
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

/** Reads from the start of the first range to the end of the last. */
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
