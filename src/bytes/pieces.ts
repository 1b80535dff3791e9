/** A sequence of bytes, for example those that a digest covers, or a file after edits. */

import { plural } from '../errors/plural.ts';
import type { ByteSource } from './byte-source.ts';
import { bytesErrors } from './errors.ts';

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export type Piece = Uint8Array | ByteRange;

export function isBytes(piece: Piece): piece is Uint8Array {
  return 'byteLength' in piece;
}

export function pieceLength(piece: Piece): number {
  return isBytes(piece) ? piece.length : piece.end - piece.start;
}

export function part(piece: Piece, start: number, end: number): Piece {
  return isBytes(piece) ? piece.subarray(start, end) : { start: piece.start + start, end: piece.start + end };
}

export function nextPiece(pieces: Iterator<Piece>): Piece | undefined {
  const { value, done } = pieces.next();
  return done ? undefined : value;
}

/** Creates the pieces again for each iteration, so that millions of pieces need no memory. */
export function lazyPieces(make: () => Iterator<Piece>): Iterable<Piece> {
  return { [Symbol.iterator]: make };
}

/**
 * `isInFileOrder` is true if the ranges ascend and do not overlap. Throws `pieces-invalid` for a range outside the
 * file, and for an iterable that can be read only once.
 */
export function surveyPieces(pieces: Iterable<Piece>, size: number) {
  if (Object.is(pieces[Symbol.iterator](), pieces))
    throw bytesErrors('pieces-invalid', { problem: 'they can be read only once' });
  let length = 0;
  let rangeCount = 0;
  let isInFileOrder = true;
  let last = 0;
  for (const piece of pieces) {
    length += pieceLength(piece);
    if (isBytes(piece)) continue;
    const { start, end } = piece;
    if (!(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end && end <= size)) {
      throw bytesErrors('pieces-invalid', {
        problem: `the range from ${start} to ${end} is not in a file of ${plural(size, 'byte')}`,
      });
    }
    rangeCount += 1;
    isInFileOrder &&= start >= last;
    last = end;
  }
  return { length, rangeCount, isInFileOrder };
}

/** Shorter pieces are read together. */
const LARGE_PIECE = 256 * 1024;
const BATCH_LENGTH = 1024 * 1024;
const BATCH_COUNT = 512;
/** Reading a gap of this size takes less time than a second read operation. */
const LARGEST_GAP = 4096;

/**
 * The memory use does not depend on the number of pieces. `surveyPieces` must have accepted the pieces. A chunk is
 * valid until the next chunk is read.
 */
export async function* readPieces(source: ByteSource, pieces: Iterable<Piece>): AsyncGenerator<Uint8Array> {
  let buffer = Buffer.alloc(0);
  let batch: Piece[] = [];
  let length = 0;
  const takeBatch = async (): Promise<Uint8Array> => {
    const [only] = batch;
    const isReady = batch.length === 1 && only !== undefined && isBytes(only);
    if (!isReady && buffer.length < length) buffer = Buffer.allocUnsafeSlow(length);
    const bytes = isReady ? only : await readBatch(source, batch, buffer.subarray(0, length));
    batch = [];
    length = 0;
    return bytes;
  };
  for (const piece of joinRanges(pieces)) {
    const added = pieceLength(piece);
    const isLarge = added >= LARGE_PIECE;
    if (batch.length > 0 && (isLarge || length + added > BATCH_LENGTH || batch.length === BATCH_COUNT))
      yield takeBatch();
    if (!isLarge) {
      batch.push(piece);
      length += added;
    } else if (isBytes(piece)) yield piece;
    else yield* source.stream(piece.start, piece.end);
  }
  if (batch.length > 0) yield takeBatch();
}

export async function areZero(source: ByteSource, ranges: Iterable<ByteRange>): Promise<boolean> {
  for await (const chunk of readPieces(source, ranges)) {
    // Comparing whole chunks is ten times faster than checking one byte at a time.
    if (Buffer.compare(chunk, Buffer.alloc(chunk.length)) !== 0) return false;
  }
  return true;
}

export function* joinRanges(pieces: Iterable<Piece>): Generator<Piece> {
  let held: ByteRange | undefined;
  for (const piece of pieces) {
    if (pieceLength(piece) === 0) continue;
    if (held !== undefined && !isBytes(piece) && piece.start === held.end) {
      held = { start: held.start, end: piece.end };
      continue;
    }
    if (held !== undefined) yield held;
    held = isBytes(piece) ? undefined : piece;
    if (isBytes(piece)) yield piece;
  }
  if (held !== undefined) yield held;
}

interface BufferedRange extends ByteRange {
  readonly position: number;
}

async function readBatch(source: ByteSource, batch: readonly Piece[], into: Buffer): Promise<Buffer> {
  const ranges: BufferedRange[] = [];
  let position = 0;
  for (const piece of batch) {
    if (isBytes(piece)) into.set(piece, position);
    else ranges.push({ start: piece.start, end: piece.end, position });
    position += pieceLength(piece);
  }
  ranges.sort((a, b) => a.start - b.start);
  await Promise.all(spansOf(ranges).map((span) => readSpan(source, span, into)));
  return into;
}

interface Span {
  readonly start: number;
  end: number;
  readonly ranges: BufferedRange[];
}

/** Each group of sorted ranges is read in one operation. */
function spansOf(ranges: readonly BufferedRange[]): readonly Span[] {
  const spans: Span[] = [];
  for (const range of ranges) {
    const last = spans.at(-1);
    const end = Math.max(last?.end ?? 0, range.end);
    if (last !== undefined && range.start - last.end <= LARGEST_GAP && end - last.start <= BATCH_LENGTH) {
      last.ranges.push(range);
      last.end = end;
    } else spans.push({ start: range.start, end: range.end, ranges: [range] });
  }
  return spans;
}

async function readSpan(source: ByteSource, { start, end, ranges }: Span, into: Buffer): Promise<void> {
  const [only] = ranges;
  const scratch =
    ranges.length === 1 && only !== undefined ? into.subarray(only.position, only.position + end - start) : undefined;
  const bytes = await source.read(start, end - start, scratch);
  if (bytes === scratch) return;
  for (const range of ranges) into.set(bytes.subarray(range.start - start, range.end - start), range.position);
}

/** `insert` is iterated several times and must not change. */
export interface Edit {
  readonly offset: number;
  readonly remove: number;
  readonly insert: Iterable<Piece>;
}

/** Edits are sorted by offset and do not overlap. */
export type Patch = readonly Edit[];

export function* patchedPieces(patch: Patch, size: number): Generator<Piece> {
  let read = 0;
  for (const { offset, remove, insert } of patch) {
    yield { start: read, end: offset };
    yield* insert;
    read = offset + remove;
  }
  yield { start: read, end: size };
}
