/** Bounds how much work is under way, and shares it fairly: one owner with many callers leaves the others their part. */

export type FairQueue = ReturnType<typeof createFairQueue>;

export interface FairQueueOptions {
  /** Slots for work. */
  readonly atOnce: number;
  /** How many of them are in use while several owners share them. */
  readonly shared: number;
  /** Limit of waiting calls. */
  readonly limit: number;
  /** True while work runs one by one, because the last of it failed. */
  readonly oneByOne: () => boolean;
  /** True for an owner whose work begins only when no other owner waits. */
  readonly isLast: (owner: string) => boolean;
}

/**
 * An owner without work is likely to bring more within this time, in milliseconds. Callers that were answered together are
 * all away for a moment, and another owner would fill every slot meanwhile.
 */
const RETURNS = 1000;
/** Limit of an owner's unfinished work for each of its slots, in the slot or after it: a slow commit must not empty the slots. */
const UNFINISHED_FOR_EACH_SLOT = 4;

interface Owner {
  readonly name: string;
  /** Work in slots. */
  running: number;
  /** Work in slots, or that left its slot and has not ended. */
  unfinished: number;
  /** When work of it began last, in the order of such beginnings; 0: never. */
  turn: number;
  /** Each is called once: with true to begin, with false where the queue needs its place for another owner. */
  readonly waiting: ((admitted: boolean) => void)[];
}

/**
 * Gives each owner the same part of the slots, and the next slot to the one that has the least running; of
 * several such owners, to the one whose turn was the longest ago. A full queue rejects the latest work of the owner that
 * has the most in it.
 *
 * Work in slots waits for the same processor, all of it equally long. So an owner gets as much done as it has running of
 * the whole, and one with few callers gets little while another may fill every slot.
 */
export function createFairQueue({ atOnce, shared, limit, oneByOne, isLast }: FairQueueOptions) {
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
  const hasSlot = (owner: Owner): boolean =>
    running < (oneByOne() ? 1 : atOnce) &&
    owner.running < part() &&
    owner.unfinished < UNFINISHED_FOR_EACH_SLOT * part();
  const begin = (owner: Owner): void => {
    running += 1;
    turns += 1;
    owner.running += 1;
    owner.unfinished += 1;
    owner.turn = turns;
  };
  const startWaiting = (): void => {
    for (;;) {
      const [next] = [...owners.values()]
        .filter((owner) => owner.waiting.length > 0 && hasSlot(owner))
        .sort(
          (one, other) =>
            Number(isLast(one.name)) - Number(isLast(other.name)) ||
            one.running - other.running ||
            one.turn - other.turn,
        );
      if (next === undefined) return;
      begin(next);
      waiting -= 1;
      next.waiting.shift()?.(true);
    }
  };
  const forgetIdle = (owner: Owner): void => {
    if (owner.unfinished > 0 || owner.waiting.length > 0) return;
    if (owners.size > 1) sharedUntil = performance.now() + RETURNS;
    owners.delete(owner.name);
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
    /**
     * Runs `work` once there is a slot for it.
     * @param name of the owner: the client
     * @param work may leave its slot to the next before it ends
     * @param busy runs instead where too much work waits, immediately or when other owners need the place in the queue
     */
    async run<T>(name: string, work: (leave: () => void) => Promise<T>, busy: () => T): Promise<T> {
      const owner = owners.get(name) ?? { name, running: 0, unfinished: 0, turn: 0, waiting: [] };
      owners.set(name, owner);
      if (!(await admit(owner))) {
        forgetIdle(owner);
        return busy();
      }
      let inSlot = true;
      const leave = () => {
        if (!inSlot) return;
        inSlot = false;
        running -= 1;
        owner.running -= 1;
        startWaiting();
      };
      try {
        return await work(leave);
      } finally {
        owner.unfinished -= 1;
        leave();
        forgetIdle(owner);
        startWaiting();
      }
    },
  };
}
