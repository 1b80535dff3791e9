import { createHash, type Hash } from 'node:crypto';
import type { ByteSource } from '../bytes/byte-source.ts';
import { isBytes, isSamePiece, lazyPieces, nextPiece, type Piece, readPieces, surveyPieces } from '../bytes/pieces.ts';
import { NODE_DIGEST_NAME } from './algorithms.ts';
import type { Content, ContentDigest, Measure, Measurement } from './content.ts';
import { addSum16 } from './sum16.ts';

/** Measures content in file order while the file is read from start to end. */
export interface Measuring {
  /** Takes the bytes at `offset` of the file; chunks come in order and without gaps inside the content's ranges. */
  update(chunk: Uint8Array, offset: number): void;
  /** Called once, after the last chunk. */
  finish(): Measurement;
  /**
   * Measures content that begins as this one does and only ends later, with all measures or some of them, and reads
   * only what this one has not; undefined when `content` is another, or one of the measures was not taken.
   */
  continueWith(source: ByteSource, content: Content, measures: readonly Measure[]): Promise<Measurement> | undefined;
}

const NODE_NAME: Readonly<Record<ContentDigest, string>> = { ...NODE_DIGEST_NAME, MD5: 'md5' };

/** Throws `pieces-invalid`. @returns undefined if the content is not in file order */
export function startMeasuring(content: Content, measures: readonly Measure[], size: number): Measuring | undefined {
  const { isInFileOrder, rangeCount } = surveyPieces(content, size);
  return isInFileOrder
    ? measuringFrom({ hashes: hashesFor(measures), sum16: 0 }, content, measures, rangeCount)
    : undefined;
}

/** The plain MeasureContent: reads the source and keeps nothing. Throws `pieces-invalid`. */
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

interface State {
  readonly hashes: ReadonlyMap<ContentDigest, Hash>;
  readonly sum16: number;
}

function hashesFor(measures: readonly Measure[]): Map<ContentDigest, Hash> {
  const digests = measures.filter((measure) => measure !== 'SUM16');
  return new Map(digests.map((algorithm) => [algorithm, createHash(NODE_NAME[algorithm])]));
}

function digestsOf(hashes: ReadonlyMap<ContentDigest, Hash>): Map<ContentDigest, Uint8Array> {
  return new Map([...hashes].map(([algorithm, hash]) => [algorithm, hash.digest()]));
}

function measuringFrom(
  { hashes, sum16: before }: State,
  content: Content,
  measures: readonly Measure[],
  rangeCount: number,
): Measuring {
  const sums = measures.includes('SUM16');
  const pieces = content[Symbol.iterator]();
  let piece = nextPiece(pieces);
  /** Pieces that have been measured, and ranges among them. */
  let taken = 0;
  let rangesTaken = 0;
  let sum16 = before;

  function advance(): void {
    taken += 1;
    piece = nextPiece(pieces);
  }

  return {
    update(chunk, offset) {
      const chunkEnd = offset + chunk.length;
      // Bytes behind the last range are left to `finish`: other content may go on in their place.
      while (piece !== undefined && rangesTaken < rangeCount) {
        if (isBytes(piece)) {
          for (const hash of hashes.values()) hash.update(piece);
        } else {
          const start = Math.max(piece.start, offset);
          const end = Math.min(piece.end, chunkEnd);
          if (start < end) {
            const part = chunk.subarray(start - offset, end - offset);
            for (const hash of hashes.values()) hash.update(part);
            if (sums) sum16 = addSum16(sum16, part, start);
          }
          if (piece.end > chunkEnd) return;
          rangesTaken += 1;
        }
        advance();
      }
    },
    finish() {
      const copies = new Map([...hashes].map(([algorithm, hash]) => [algorithm, hash.copy()]));
      for (; piece !== undefined; piece = nextPiece(pieces)) {
        if (isBytes(piece)) for (const hash of copies.values()) hash.update(piece);
      }
      return { digests: digestsOf(copies), sum16: sums ? sum16 : undefined };
    },
    continueWith(source, next, nextMeasures) {
      const survey = surveyPieces(next, source.size);
      const rest = survey.isInFileOrder && rangesTaken === rangeCount ? restBehind(content, taken, next) : undefined;
      if (rest === undefined || !nextMeasures.every((measure) => measures.includes(measure))) return undefined;
      const asked = [...hashes].filter(([algorithm]) => nextMeasures.includes(algorithm));
      const copies = new Map(asked.map(([algorithm, hash]) => [algorithm, hash.copy()]));
      const restCount = survey.rangeCount - rangesTaken + 1;
      return readInOrder(source, rest, measuringFrom({ hashes: copies, sum16 }, rest, nextMeasures, restCount));
    },
  };
}

/** Reads from the first range's start to the last one's end. */
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

/**
 * What `next` has behind the first `count` pieces of `content`, the last of which is a range: it may be longer in `next`.
 * Undefined if `next` does not begin with them.
 */
function restBehind(content: Content, count: number, next: Content): Content | undefined {
  const others = next[Symbol.iterator]();
  let index = 0;
  for (const piece of content) {
    const other = nextPiece(others);
    index += 1;
    if (other === undefined) return undefined;
    if (index === count) {
      if (isBytes(piece) || isBytes(other) || piece.start !== other.start || other.end < piece.end) return undefined;
      return lazyPieces(() => withoutFirst(next, count, { start: piece.end, end: other.end }));
    }
    if (!isSamePiece(piece, other)) return undefined;
  }
  return undefined;
}

function* withoutFirst(content: Content, count: number, instead: Piece): Generator<Piece> {
  yield instead;
  let index = 0;
  for (const piece of content) {
    if (index >= count) yield piece;
    index += 1;
  }
}
