/** Makes a failing case smaller while it still fails, so that people can read the fixture. */

const MOST_TRIES = 400;
const MOST_MILLISECONDS = 5000;
const SMALLEST_PIECE = 4;

/** Takes pieces out, large ones first, then sets to zero what need not be there. */
export async function shrink(
  original: Uint8Array,
  isFaulty: (bytes: Uint8Array) => Promise<boolean>,
): Promise<Uint8Array> {
  let best: Buffer = Buffer.from(original);
  let tries = 0;
  const started = performance.now();
  const isOver = (): boolean => tries >= MOST_TRIES || performance.now() - started > MOST_MILLISECONDS;
  const attempt = async (candidate: Buffer): Promise<boolean> => {
    tries += 1;
    if (!(await isFaulty(candidate))) return false;
    best = candidate;
    return true;
  };
  if (!(await attempt(Buffer.from(original)))) return original; // not the same twice
  for (let size = best.length >> 1; size >= SMALLEST_PIECE && !isOver(); size >>= 1) {
    for (let at = best.length - size; at >= 0 && !isOver(); ) {
      await attempt(Buffer.concat([best.subarray(0, at), best.subarray(at + size)]));
      at -= size;
    }
  }
  for (let size = best.length >> 1; size >= SMALLEST_PIECE && !isOver(); size >>= 1) {
    for (let at = 0; at < best.length && !isOver(); at += size) {
      if (best.subarray(at, at + size).every((octet) => octet === 0)) continue;
      await attempt(Buffer.from(best).fill(0, at, Math.min(at + size, best.length)));
    }
  }
  return best;
}
