import { type ByteSource, checkRange } from './byte-source.ts';
import {
  isBytes,
  joinRanges,
  lazyPieces,
  type Patch,
  type Piece,
  part,
  patchedPieces,
  pieceLength,
  readPieces,
} from './pieces.ts';

/** `compose` converts edits of this source to edits of the original. */
export function patchedSource(original: ByteSource, patch: Patch): ByteSource & { compose(patch: Patch): Patch } {
  const pieces: Piece[] = [];
  const starts: number[] = [];
  let size = 0;
  for (const piece of joinRanges(patchedPieces(patch, original.size))) {
    pieces.push(piece);
    starts.push(size);
    size += pieceLength(piece);
  }

  function* piecesOf(start: number, end: number): Generator<Piece> {
    for (let index = lastUpTo(starts, start); start < end; index++) {
      const piece = pieces[index];
      const offset = starts[index];
      if (piece === undefined || offset === undefined) return;
      const pieceEnd = Math.min(end, offset + pieceLength(piece));
      yield part(piece, start - offset, pieceEnd - offset);
      start = pieceEnd;
    }
  }

  return {
    size,
    async read(offset, length) {
      checkRange('bytes', offset, length, size);
      const chunks: Uint8Array[] = [];
      for await (const chunk of readPieces(original, piecesOf(offset, offset + length)))
        chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks);
    },
    stream: (start = 0, end = size) => readPieces(original, piecesOf(start, end)),
    compose(next) {
      const insert = lazyPieces(function* () {
        for (const piece of patchedPieces(next, size)) {
          if (isBytes(piece)) yield piece;
          else yield* piecesOf(piece.start, piece.end);
        }
      });
      return [{ offset: 0, remove: original.size, insert }];
    },
  };
}

/** The numbers must ascend. */
function lastUpTo(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
