import { bytesErrors } from '../../bytes/errors.ts';
import { type Edit, type Patch, patchedPieces } from '../../bytes/patch.ts';
import {
  type ByteRange,
  isBytes,
  isSamePiece,
  joinRanges,
  nextPiece,
  type Piece,
  part,
  pieceLength,
  surveyPieces,
} from '../../bytes/pieces.ts';
import type { Content } from '../../crypto/content.ts';
import { counted } from '../../errors/counted.ts';

/** A patch without what it inserts: how many bytes it adds. */
export type PatchShape = ReturnType<typeof shapeOf>;

/** Throws `pieces-invalid` for edits that are not in the order of the file, or not within its `size` bytes. */
export function shapeOf(patch: Patch, size: number) {
  let last = 0;
  return patch.map(({ offset, remove, insert }) => {
    if (!(offset >= last && remove >= 0 && offset + remove <= size)) {
      const problem = `${counted(remove, 'byte')} at ${offset} cannot be replaced behind ${last} in a file of ${counted(size, 'byte')}`;
      throw bytesErrors('pieces-invalid', { problem });
    }
    last = offset + remove;
    return { offset, remove, added: surveyPieces(insert, size).length };
  });
}

/** Whether all edits keep what follows them where it is, except one at the end of the `size` bytes. */
export function keepsPositions(shape: PatchShape, size: number): boolean {
  return shape.every(
    (edit, index) => edit.remove === edit.added || (index === shape.length - 1 && reachesEnd(edit, size)),
  );
}

function reachesEnd(edit: Pick<Edit, 'offset' | 'remove'>, size: number): boolean {
  return edit.offset + edit.remove === size;
}

/** Whether no edit touches the content, whose ranges are in file order; what is added behind its end is not part of it. */
export function leavesAlone(shape: PatchShape, content: Content): boolean {
  let index = 0;
  for (const piece of content) {
    if (isBytes(piece)) continue;
    for (let edit = shape[index]; edit !== undefined && edit.offset + edit.remove <= piece.start; edit = shape[index]) {
      index += 1;
    }
    const edit = shape[index];
    if (edit !== undefined && edit.offset < piece.end) return false;
  }
  return true;
}

/** Bytes of a result, at the position that they have in it. */
interface Placed {
  readonly position: number;
  readonly piece: Piece;
}

/** All bytes of the result, with their positions. */
function* placedPieces(patch: Patch, size: number): Generator<Placed> {
  let position = 0;
  for (const piece of joinRanges(patchedPieces(patch, size))) {
    yield { position, piece };
    position += pieceLength(piece);
  }
}

/** The bytes that a patch inserts, ranges left out, with their positions in the result. */
export function* insertedBytes(patch: Patch, size: number): Generator<{ position: number; bytes: Uint8Array }> {
  for (const { position, piece } of placedPieces(patch, size)) if (isBytes(piece)) yield { position, bytes: piece };
}

/** Bytes of the original in a result: from `start` up to `end` of the result, `shift` bytes behind where they were. */
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
 * What must be written, in order, for a file with the result of `before` to have that of `next`: all bytes that it inserts, and
 * ranges of the original that are not there yet. `before`: undefined for a file that has anything else.
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

/** Whether `piecesToWrite` gives no range of the original. */
export function insertsAlone(next: Patch, before: Patch | undefined, size: number): boolean {
  for (const { piece } of piecesToWrite(next, before, size)) if (!isBytes(piece)) return false;
  return true;
}

/** Pieces that follow one another without a gap. */
interface Section {
  readonly position: number;
  /** To be taken whole, once, before the next section. */
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

/** Ranges of the original that are remembered: they take about 10 MB. */
const MOST_KEPT = 100_000;

/**
 * Gives the place in the original of bytes of the result, and how many that begin there follow it up to `end`; undefined for
 * bytes that are not known to be the original's.
 */
function originsIn(patch: Patch, size: number): (start: number, end: number) => ByteRange | undefined {
  const known: Kept[] = [];
  for (const kept of keptRanges(patch, size)) {
    if (known.push(kept) === MOST_KEPT) break;
  }
  return (start, end) => {
    let low = 0;
    let high = known.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((known[middle]?.start ?? 0) <= start) low = middle;
      else high = middle;
    }
    const kept = known[low];
    if (kept === undefined || start < kept.start || start > kept.end || (start === kept.end && end > start))
      return undefined;
    return { start: start - kept.shift, end: Math.min(end, kept.end) - kept.shift };
  };
}

/** Gives the place in the original of bytes of the result; undefined when not all of them are known to be the original's, in one piece. */
export function originIn(patch: Patch, size: number): (start: number, end: number) => number | undefined {
  const originOf = originsIn(patch, size);
  return (start, end) => {
    const origin = originOf(start, end);
    return origin !== undefined && origin.end - origin.start === end - start ? origin.start : undefined;
  };
}

/** Whether `content`, of the result, has the same bytes as `before`, of the original, as far as that is known without reading them. */
export function isSameContent(patch: Patch, size: number, content: Content, before: Content): boolean {
  const originOf = originsIn(patch, size);
  let isKnown = true;
  function* asBefore(): Generator<Piece> {
    for (const piece of content) {
      if (isBytes(piece)) {
        yield piece;
        continue;
      }
      for (let at = piece.start; at < piece.end; ) {
        const origin = originOf(at, piece.end);
        if (origin === undefined) {
          isKnown = false;
          return;
        }
        yield origin;
        at += pieceLength(origin);
      }
    }
  }
  const others = joinRanges(before);
  for (const piece of joinRanges(asBefore())) {
    const other = nextPiece(others);
    if (other === undefined || !isSamePiece(piece, other)) return false;
  }
  return isKnown && nextPiece(others) === undefined;
}
