export type FairQueue = ReturnType<typeof createFairQueue>;

export interface FairQueueOptions {
  readonly atOnce: number;
  /** Limit on the number of used slots while several owners compete for them. */
  readonly shared: number;
  readonly limit: number;
  /** True if work runs one item at a time because the last item failed. */
  readonly oneByOne: () => boolean;
  /** True for an owner whose work begins only when no other owner is waiting. */
  readonly isLast: (owner: string) => boolean;
}

/** Milliseconds for which an owner without work keeps its share, until its callers make their next calls. */
const RETURNS = 1000;
/** Limit on an owner's unfinished work per slot. During a slow commit, an owner needs other work for its slots. */
const UNFINISHED_FOR_EACH_SLOT = 4;

interface Owner {
  readonly name: string;
  running: number;
  /** Number of work items that are running, or have left their slot but are not finished. */
  unfinished: number;
  /** Sequence number of the work that the owner started last; 0 if the owner has started none. */
  turn: number;
  /** Callbacks of the waiting work. The argument is false if another owner takes the position in the queue. */
  readonly waiting: ((admitted: boolean) => void)[];
}

/**
 * Gives each owner the same share of the slots. The next slot goes to the owner with the least running work. If several
 * owners have the same amount, the slot goes to the owner that started work least recently. A full queue rejects the
 * latest work of the owner with the most waiting work.
 */
export function createFairQueue({ atOnce, shared, limit, oneByOne, isLast }: FairQueueOptions) {
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
     * Runs `work` when a slot is free.
     * @param work may release its slot before it ends
     * @param busy runs instead of `work` if the queue is full, or if another owner takes the position in the queue
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
