import { setImmediate as turn } from 'node:timers/promises';

export interface Batches<Item, Result> {
  /** Serves an item in a batch that begins after this call. */
  add(item: Item): Promise<Result>;
  /** Resolves when no item is waiting or being served. The caller must not add more items. */
  drain(): Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (error: unknown) => void;
}

/** Limit on the number of items in a batch. */
const MOST = 256;

/**
 * Serves the items that arrive during a batch together in the next batch. A database needs hardly more time for fifty
 * calls than for one, and one flush to disk makes all of them durable.
 * @param serve returns a result or a promise for each item in order, or rejects for all items
 */
export function createBatches<Item, Result>(
  serve: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
): Batches<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    await turn(); // items of the same turn of the event loop join this batch
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
