/**
 * Calls that come at once, served together: what a database does for one it does for fifty in nearly the same time, and
 * one flush to the disk makes all of them durable. One batch is under way at a time; what comes meanwhile is the next one's.
 */

import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

export interface Batches<Item, Result> {
  /** Serves an item with whatever else is waiting: by work that begins after this call, so that it sees all that was before. */
  add(item: Item): Promise<Result>;
  /** Resolves when nothing is waiting or under way. It is the caller's to add no more from then on. */
  drain(): Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * @param serve all of the items or none, and a result for each in their order. Where it fails for several of them, each
 * is served once more by itself: one that cannot be served fails nobody else.
 * @param most how many items a batch holds at most
 */
export function createBatches<Item, Result>(
  serve: (items: readonly Item[]) => Promise<readonly Result[]>,
  most: number,
): Batches<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  const drained: (() => void)[] = [];
  let running = false; const stat = [0, 0]; if (process.env.BSTAT) setInterval(() => { console.error('batches', serve.name, stat); stat.fill(0); }, 1000).unref();

  const serveAll = async (members: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await serve(members.map(({ item }) => item));
      if (results.length !== members.length) throw new TypeError('a batch must have a result for each of its items');
      for (const [index, { resolve }] of members.entries()) resolve(results[index] as Result);
    } catch (error) {
      const [only, ...others] = members;
      if (others.length === 0) only?.reject(error);
      else for (const member of members) await serveAll([member]);
    }
  };
  const GATHER = Number(process.env.GATHER ?? 5);
  let last = { at: 0, size: 0 };
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      const wait = last.size > 1 ? GATHER - (performance.now() - last.at) : 0;
      if (wait > 0.5 && waiting.length < most) await sleep(wait);
      const members = waiting.splice(0, most);
      last = { at: performance.now(), size: members.length };
      await serveAll(members);
      stat[0] += 1; stat[1] += members.length;
      await turn();
    }
    running = false;
    for (const resolve of drained.splice(0)) resolve();
  };

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (running) return;
        running = true;
        setImmediate(() => void run()); // what else this turn of the event loop brings comes along
      }),
    async drain() {
      if (running) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
}
