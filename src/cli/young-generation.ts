/** Room for what a batch makes and soon forgets: V8 starts with 1 MiB, and would clean that up more than once for each file. */

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** From so many files on it pays. */
const MANY_FILES = 50;
/** Both halves of the young generation, one of which is always empty: more would take memory, and hardly any time. */
const ENOUGH_BYTES = 8 * 1024 * 1024;
const LOOK_MILLISECONDS = 20;

export interface Heap {
  setFlagsFromString(flag: string): void;
  getHeapSpaceStatistics(): readonly { readonly space_name: string; readonly space_size: number }[];
}

/** Lets it grow by one step, which V8 takes when it next cleans up. Gives what ends the look-out for that. */
export function makeRoomFor(files: number, heap: Heap = { setFlagsFromString, getHeapSpaceStatistics }): () => void {
  if (files < MANY_FILES) return () => undefined;
  heap.setFlagsFromString('--semi-space-growth-factor=4');
  const timer = setInterval(() => {
    const young = heap.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    if (young === undefined || young.space_size >= ENOUGH_BYTES) stop();
  }, LOOK_MILLISECONDS).unref();
  const stop = (): void => {
    clearInterval(timer);
    heap.setFlagsFromString('--semi-space-growth-factor=1');
  };
  return stop;
}
