/** Bounds how much work is under way, and shares it fairly: one owner with many callers leaves the others their part. */

export interface FairQueue {
  /**
   * Runs `work` once there is a place for it.
   * @param owner the client, or whatever a part belongs to
   * @param busy runs instead where too much work waits, immediately or when other owners need the place in the queue
   */
  run<T, Busy = never>(owner: string, work: () => Promise<T>, busy?: () => Busy): Promise<T | Busy>;
}

export interface FairQueueOptions {
  /** How much work may be under way. */
  readonly atOnce: number;
  /** How much of it may be under way while several owners share it; `atOnce` by default. */
  readonly shared?: number;
  /** Limit of waiting calls; none by default. */
  readonly limit?: number;
}

/**
 * An owner without work is likely to bring more within this time, in milliseconds. Callers that were answered together are
 * all away for a moment, and another owner would fill every place meanwhile.
 */
const RETURNS = 1000;

interface Owner {
  running: number;
  /** When work of it began last, in the order of such beginnings; 0: never. */
  turn: number;
  /** Each is called once: with true to begin, with false where the queue needs its place for another owner. */
  readonly waiting: ((admitted: boolean) => void)[];
}

/**
 * Gives each owner the same part of what may be under way, and the next place to the one that has the least under way; of
 * several such owners, to the one whose turn was the longest ago. A full queue rejects the latest work of the owner that
 * has the most in it.
 *
 * Work that is under way waits for the same processor and database, all of it equally long. So an owner gets as much done
 * as it has under way of the whole, and one with few callers gets little while another may fill `atOnce`.
 */
export function createFairQueue({
  atOnce,
  shared = atOnce,
  limit = Number.POSITIVE_INFINITY,
}: FairQueueOptions): FairQueue {
  /** Those that have work under way or waiting. */
  const owners = new Map<string, Owner>();
  let running = 0;
  let waiting = 0;
  let turns = 0;
  let sharedUntil = Number.NEGATIVE_INFINITY;

  const part = (): number => {
    const parts = owners.size === 1 && performance.now() < sharedUntil ? 2 : owners.size;
    return parts > 1 ? Math.ceil(shared / parts) : atOnce;
  };
  const hasSlot = (owner: Owner): boolean => running < atOnce && owner.running < part();
  const begin = (owner: Owner): void => {
    running += 1;
    turns += 1;
    owner.running += 1;
    owner.turn = turns;
  };
  const startWaiting = (): void => {
    for (;;) {
      const [next] = [...owners.values()]
        .filter((owner) => owner.waiting.length > 0 && hasSlot(owner))
        .sort((one, other) => one.running - other.running || one.turn - other.turn);
      if (next === undefined) return;
      begin(next);
      waiting -= 1;
      next.waiting.shift()?.(true);
    }
  };
  const end = (name: string, owner: Owner): void => {
    running -= 1;
    owner.running -= 1;
    leave(name, owner);
    startWaiting();
  };
  const leave = (name: string, owner: Owner): void => {
    if (owner.running > 0 || owner.waiting.length > 0) return;
    if (owners.size > 1) sharedUntil = performance.now() + RETURNS;
    owners.delete(name);
  };
  /** @returns whether this owner may have one more in the queue */
  const makeSpace = (owner: Owner): boolean => {
    if (waiting < limit) return true;
    const [most] = [...owners.values()].sort((one, other) => other.waiting.length - one.waiting.length);
    if (most === undefined || most.waiting.length <= owner.waiting.length + 1) return false;
    waiting -= 1;
    most.waiting.pop()?.(false);
    return true;
  };
  const admit = async (owner: Owner): Promise<boolean> => {
    if (owner.waiting.length === 0 && hasSlot(owner)) {
      begin(owner);
      return true;
    }
    if (!makeSpace(owner)) return false;
    waiting += 1;
    return await new Promise((resolve) => owner.waiting.push(resolve));
  };

  return {
    async run(name, work, busy) {
      const owner = owners.get(name) ?? { running: 0, turn: 0, waiting: [] };
      owners.set(name, owner);
      if (!(await admit(owner))) {
        leave(name, owner);
        if (busy === undefined) throw new TypeError('the queue is full');
        return busy();
      }
      try {
        return await work();
      } finally {
        end(name, owner);
      }
    },
  };
}
