/**
 * Concurrent calls, served together: a database takes nearly the same time for fifty as for one, and one flush to the disk
 * makes all of them durable. One batch is under way at a time; later calls wait for the next one.
 */

import { setImmediate as turn } from 'node:timers/promises';

export interface Batches<Item, Result> {
  /** Serves an item with whatever else is waiting: by work that begins after this call, so that it sees all that was before. */
  add(item: Item): Promise<Result>;
  /** Resolves when nothing is waiting or under way. It is the caller's to add no more from then on. */
  drain(): Promise<void>;
}

export interface BatchOptions {
  /** How many items a batch holds at most. What waits is bounded by the callers: each waits for one. */
  readonly most: number;
  /** So many are worth a batch of their own: it begins without waiting for more. */
  readonly enough: number;
  /** Under load, how long after the beginning of a batch one of fewer begins at the earliest, in milliseconds; asked each time. */
  readonly gather: () => number;
  /** Whether an error is the fault of one item. Then each is served alone, so that the others do not fail. */
  readonly isOfOne: (error: unknown) => boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (error: unknown) => void;
}

/** @param serve all of the items, with a result for each in their order, which may itself take longer; or, where it rejects, none of them */
export function createBatches<Item, Result>(
  serve: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
  { most, enough, gather, isOfOne }: BatchOptions,
): Batches<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  const drained: (() => void)[] = [];
  let running = false;
  let last = { began: 0, size: 0 };
  let onEnough = (): void => {};

  const serveAll = async (members: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await serve(members.map(({ item }) => item));
      if (results.length !== members.length) throw new TypeError('a batch must have a result for each of its items');
      for (const [index, { resolve }] of members.entries()) resolve(results[index] as Result | Promise<Result>);
    } catch (error) {
      if (members.length > 1 && isOfOne(error)) for (const member of members) await serveAll([member]);
      else for (const { reject } of members) reject(error);
    }
  };
  /** A single call is served immediately; if several came together, more are likely to follow. */
  const gathered = async (): Promise<void> => {
    await turn(); // what else this turn of the event loop brings comes along
    const wait = last.size > 1 && waiting.length < enough ? last.began + gather() - performance.now() : 0;
    if (wait <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait);
      onEnough = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    onEnough = () => {};
  };
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      await gathered();
      const members = waiting.splice(0, most);
      last = { began: performance.now(), size: members.length };
      await serveAll(members);
    }
    running = false;
    for (const resolve of drained.splice(0)) resolve();
  };

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (waiting.length === enough) onEnough();
        if (running) return;
        running = true;
        void run();
      }),
    async drain() {
      if (running) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
}
