import { bytesErrors } from '../../bytes/errors.ts';
import {
  type ByteRange,
  isBytes,
  joinRanges,
  type Patch,
  type Piece,
  part,
  patchedPieces,
  pieceLength,
  surveyPieces,
} from '../../bytes/pieces.ts';
import { plural } from '../../errors/plural.ts';

export function resultSize(patch: Patch, size: number): number {
  let last = 0;
  let result = size;
  for (const { offset, remove, insert } of patch) {
    if (!(offset >= last && remove >= 0 && offset + remove <= size)) {
      const problem = `${plural(remove, 'byte')} at ${offset} cannot be replaced after ${last} in a file of ${plural(size, 'byte')}`;
      throw bytesErrors('pieces-invalid', { problem });
    }
    last = offset + remove;
    result += surveyPieces(insert, size).length - remove;
  }
  return result;
}

interface Placed {
  readonly position: number;
  readonly piece: Piece;
}

function* placedPieces(patch: Patch, size: number): Generator<Placed> {
  let position = 0;
  for (const piece of joinRanges(patchedPieces(patch, size))) {
    yield { position, piece };
    position += pieceLength(piece);
  }
}

/** A range of the result that consists of original bytes. Its offset in the original is `shift` bytes lower. */
interface Kept extends ByteRange {
  readonly shift: number;
}

function* keptRanges(patch: Patch, size: number): Generator<Kept> {
  for (const { position, piece } of placedPieces(patch, size)) {
    if (isBytes(piece)) continue;
    yield { start: position, end: position + pieceLength(piece), shift: position - piece.start };
  }
}

/**
 * Yields the pieces that turn the result of `before` into the result of `next`: inserted bytes, and original bytes that
 * must move. `before` is undefined if the file has other content.
 */
export function* piecesToWrite(next: Patch, before: Patch | undefined, size: number): Generator<Placed> {
  const there = before === undefined ? [].values() : keptRanges(before, size);
  let kept: Kept | undefined = there.next().value;
  for (const { position, piece } of placedPieces(next, size)) {
    const end = position + pieceLength(piece);
    let written = position;
    while (written < end && !isBytes(piece)) {
      while (kept !== undefined && kept.end <= written) kept = there.next().value;
      if (kept === undefined || kept.start >= end) break;
      const isThere = kept.shift === position - piece.start;
      const until = isThere ? Math.max(kept.start, written) : Math.min(kept.end, end);
      if (until > written) yield { position: written, piece: part(piece, written - position, until - position) };
      written = isThere ? Math.min(kept.end, end) : until;
    }
    if (written < end) yield { position: written, piece: part(piece, written - position, end - position) };
  }
}

interface Section {
  readonly position: number;
  /** The caller must read all pieces of a section before it reads the next section. */
  readonly pieces: Iterable<Piece>;
}

export function* sectionsOf(placed: Iterator<Placed, void>): Generator<Section> {
  let next = placed.next();
  function* pieces(from: number): Generator<Piece> {
    for (let end = from; !next.done && next.value.position === end; next = placed.next()) {
      yield next.value.piece;
      end += pieceLength(next.value.piece);
    }
  }
  while (!next.done) yield { position: next.value.position, pieces: pieces(next.value.position) };
}
