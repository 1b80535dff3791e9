/** Above this size, local work takes longer than the service call: 20 ms for a program, half a second for a JAR. */
const LARGE_BYTES = 8 * 1024 * 1024;

/**
 * Number of concurrent large files while small ones wait: one is read, and one is flushed or signed. More would gain
 * nothing, because one processor digests, and could occupy all four threads of Node's pool with flushes.
 */
const LARGE_SLOTS = 2;

export interface Slots<File> {
  /** Number of files under way concurrently. With one, the order given is kept. */
  readonly concurrency: number;
  readonly bytesOf: (file: File) => number;
}

/** Returns what `run` returns for each file, in the order given. `run` must not reject. */
export async function concurrently<File, Outcome>(
  files: readonly File[],
  { concurrency, bytesOf }: Slots<File>,
  run: (file: File) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes = new Array<Outcome>(files.length);
  // Last first, to be popped.
  const waiting = [...files.entries()].reverse();
  const isLarge = ([, file]: [number, File]): boolean => concurrency > 1 && bytesOf(file) >= LARGE_BYTES;
  const large = waiting.filter(isLarge);
  const small = waiting.filter((entry) => !isLarge(entry));
  const share = Math.min(LARGE_SLOTS, Math.floor(concurrency / 2));
  let largeUnderWay = 0;

  const useSlot = async (): Promise<void> => {
    for (;;) {
      const takesLarge = large.length > 0 && (small.length === 0 || largeUnderWay < share);
      const next = (takesLarge ? large : small).pop();
      if (next === undefined) return;
      const [index, file] = next;
      if (takesLarge) largeUnderWay++;
      outcomes[index] = await run(file);
      if (takesLarge) largeUnderWay--;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, files.length) }, useSlot));
  return outcomes;
}
