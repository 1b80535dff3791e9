import { bytesErrors } from '../../bytes/errors.ts';
import type { Edit, Patch } from '../../bytes/patch.ts';
import { isBytes, isSamePiece, nextPiece, type Piece, pieceLength, surveyPieces } from '../../bytes/pieces.ts';
import type { Content } from '../../crypto/content.ts';
import { counted } from '../../errors/counted.ts';

/** A patch without what it inserts: how many bytes it adds, and whether ranges of the original are among them. */
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
    const { length, rangeCount } = surveyPieces(insert, size);
    return { offset, remove, added: length, addsRanges: rangeCount > 0 };
  });
}

/** All bytes of the result, as those of the original and those inserted. */
export function* patchedPieces(patch: Patch, size: number): Generator<Piece> {
  let read = 0;
  for (const { offset, remove, insert } of patch) {
    yield { start: read, end: offset };
    yield* insert;
    read = offset + remove;
  }
  yield { start: read, end: size };
}

/** Whether all edits keep what follows them where it is, except one at the end of the `size` bytes. */
export function keepsPositions(shape: PatchShape, size: number): boolean {
  return shape.every(
    (edit, index) => edit.remove === edit.added || (index === shape.length - 1 && reachesEnd(edit, size)),
  );
}

export function reachesEnd(edit: Pick<Edit, 'offset' | 'remove'>, size: number): boolean {
  return edit.offset + edit.remove === size;
}

/** Whether `next` overwrites every byte that `before` did, with bytes alone, so that it can follow without going back to the original. */
export function coversRegions(next: PatchShape, before: PatchShape): boolean {
  return (
    before.every((edit, index) => edit.offset === next[index]?.offset && edit.remove === next[index].remove) &&
    ![...before, ...next].some(({ addsRanges }) => addsRanges)
  );
}

/** Whether both put as many bytes in the same places, so that only bytes differ that are inserted. */
export function differsInBytesAlone(next: Patch, before: Patch): boolean {
  return (
    next.length === before.length &&
    before.every(({ offset, remove, insert }, index) => {
      const other = next[index];
      return other?.offset === offset && other.remove === remove && isSameLayout(insert, other.insert);
    })
  );
}

function isSameLayout(a: Iterable<Piece>, b: Iterable<Piece>): boolean {
  const others = b[Symbol.iterator]();
  for (const piece of a) {
    const other = nextPiece(others);
    if (other === undefined || isBytes(piece) !== isBytes(other)) return false;
    if (isBytes(piece) ? piece.length !== pieceLength(other) : !isSamePiece(piece, other)) return false;
  }
  return nextPiece(others) === undefined;
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

/** The bytes that a patch inserts, ranges left out, with their places in the result. */
export function* insertedBytes(patch: Patch): Generator<{ readonly position: number; readonly bytes: Uint8Array }> {
  let shift = 0;
  for (const { offset, remove, insert } of patch) {
    let position = offset + shift;
    for (const piece of insert) {
      if (isBytes(piece)) yield { position, bytes: piece };
      position += pieceLength(piece);
    }
    shift = position - offset - remove;
  }
}

/** Gives the place in the original of bytes of the result; undefined when not all of them are known to be the original's, in one piece. */
export function originIn(shape: PatchShape): (start: number, end: number) => number | undefined {
  const pieces: { start: number; end: number; shift: number }[] = [];
  let shift = 0;
  let start = 0;
  for (const { offset, remove, added } of shape) {
    pieces.push({ start, end: offset + shift, shift });
    shift += added - remove;
    start = offset + remove + shift;
  }
  pieces.push({ start, end: Number.POSITIVE_INFINITY, shift });
  return (from, to) => {
    let low = 0;
    let high = pieces.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((pieces[middle]?.start ?? 0) <= from) low = middle;
      else high = middle;
    }
    const piece = pieces[low];
    return piece !== undefined && from >= piece.start && to <= piece.end ? from - piece.shift : undefined;
  };
}
