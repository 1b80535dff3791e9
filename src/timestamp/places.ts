/** A bound on what goes on at one time: places are taken in the order they are asked for. */

export interface Places {
  /** Resolves to the function that gives the place back. Rejects when the signal aborts before there is one. */
  take(signal?: AbortSignal): Promise<() => void>;
}

export function createPlaces(count: number): Places {
  let free = count;
  const queue = new Set<() => void>();

  const giveBack = (): void => {
    const [next] = queue;
    if (next === undefined) free += 1;
    else next();
  };
  /** Twice would make places out of nothing. */
  const place = (): (() => void) => {
    let isTaken = true;
    return () => {
      if (isTaken) giveBack();
      isTaken = false;
    };
  };

  return {
    async take(signal) {
      signal?.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return place();
      }
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          queue.delete(enter);
          reject(signal?.reason);
        };
        const enter = (): void => {
          queue.delete(enter);
          signal?.removeEventListener('abort', leave);
          resolve();
        };
        queue.add(enter);
        signal?.addEventListener('abort', leave, { once: true });
      });
      return place();
    },
  };
}
