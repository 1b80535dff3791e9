/** Where the bytes of a file are before and after a patch: pure questions about edits. */

import type { Edit, Patch } from '../../bytes/patch.ts';
import type { Content } from '../../crypto/content.ts';

/** A patch without what it inserts. */
export type PatchShape = readonly EditShape[];

interface EditShape {
  readonly offset: number;
  readonly remove: number;
  /** In bytes. */
  readonly added: number;
}

export function shapeOf(patch: Patch): PatchShape {
  return patch.map(({ offset, remove, insert }) => ({ offset, remove, added: insert.length }));
}

/** Whether all edits keep what follows them where it is, but for one at the end of the `size` bytes. */
export function keepsPositions(shape: PatchShape, size: number): boolean {
  return shape.every(
    (edit, index) => edit.remove === edit.added || (index === shape.length - 1 && reachesEnd(edit, size)),
  );
}

export function reachesEnd(edit: Pick<Edit, 'offset' | 'remove'>, size: number): boolean {
  return edit.offset + edit.remove === size;
}

/** Whether `next` overwrites every byte that `before` did, so that it can follow without going back to the original. */
export function coversRegions(next: PatchShape, before: PatchShape): boolean {
  return before.every((edit, index) => edit.offset === next[index]?.offset && edit.remove === next[index].remove);
}

/** Whether both put as many bytes in the same places, so that only what is inserted differs. */
export function hasSameShape(next: PatchShape, before: PatchShape): boolean {
  return (
    next.length === before.length &&
    coversRegions(next, before) &&
    before.every(({ added }, index) => added === next[index]?.added)
  );
}

/** Whether no edit touches the content; what is added behind its end is not part of it. */
export function leavesAlone(shape: PatchShape, { ranges }: Content): boolean {
  return shape.every((edit) =>
    ranges.every(({ start, end }) => edit.offset >= end || edit.offset + edit.remove <= start),
  );
}

/** Where the content ends. */
export function endOf({ ranges }: Content): number {
  return ranges.at(-1)?.end ?? 0;
}

/** Each insertion with its place in the result. */
export function* insertions(patch: Patch): Generator<{ readonly position: number; readonly bytes: Uint8Array }> {
  let shift = 0;
  for (const { offset, remove, insert } of patch) {
    yield { position: offset + shift, bytes: insert };
    shift += insert.length - remove;
  }
}

/** Gives the place in the original of bytes of the result; undefined when not all of them are the original's, in one piece. */
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
