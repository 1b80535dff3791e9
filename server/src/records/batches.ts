/**
 * Concurrent calls, served together: a database takes nearly the same time for fifty as for one, and one flush to the disk
 * makes all of them durable. One batch is under way at a time; calls that come meanwhile share the next one.
 */

import { setImmediate as turn } from 'node:timers/promises';

export interface Batches<Item, Result> {
  /** Serves an item with whatever else is waiting: by work that begins after this call, so that it sees all that was before. */
  add(item: Item): Promise<Result>;
  /** Resolves when nothing is waiting or under way. It is the caller's to add no more from then on. */
  drain(): Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (error: unknown) => void;
}

/** More would make a statement long, and the first of them wait for the last. What waits is bounded by the callers. */
const MOST = 256;

/** @param serve gives a result for each item in their order, which may itself take longer, or rejects for all of them */
export function createBatches<Item, Result>(
  serve: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
): Batches<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    await turn(); // what else this turn of the event loop brings comes along
    while (waiting.length > 0) {
      const members = waiting.splice(0, MOST);
      try {
        const results = await serve(members.map(({ item }) => item));
        for (const [index, { resolve }] of members.entries()) resolve(results[index] as Result | Promise<Result>);
      } catch (error) {
        for (const { reject } of members) reject(error);
      }
    }
    running = undefined;
  };

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        running ??= run();
      }),
    async drain() {
      await running;
    },
  };
}
