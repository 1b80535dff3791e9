/** Files of a run, changed concurrently: small and large ones use the slots in such a way that neither kind waits for the other to end. */

/** From here on it is the machine that takes the time of a file, not the service: 20 ms of a program, half a second of a JAR. */
const LARGE_BYTES = 8 * 1024 * 1024;

/**
 * So many large files concurrently while small ones wait: one that is read and one that is flushed or signed. More would gain
 * nothing, since the digesting is one processor's, and could hold all four threads of Node's pool with flushes.
 */
const LARGE_SLOTS = 2;

export interface Slots<File> {
  /** Files under way concurrently; with one, they take turns in the order given. */
  readonly concurrency: number;
  readonly bytesOf: (file: File) => number;
}

/** What `run` gives for each file, in the order given. `run` must not reject. */
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
