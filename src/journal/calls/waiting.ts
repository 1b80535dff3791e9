/** Waiting for a step in the file of a call: this process's own steps are told at once, others' are looked for. */

export interface Waiting {
  /** Tells all who wait for this work that something has happened. */
  wake(work: string): void;
  /** Until something happens to the work, the time is over, or the signal aborts. */
  wait(work: string, milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
}

export function createWaiting(): Waiting {
  const waiting = new Map<string, Set<() => void>>();
  return {
    wake(work) {
      for (const resume of [...(waiting.get(work) ?? [])]) resume();
    },
    wait: (work, milliseconds, signal) =>
      new Promise((resolve) => {
        const others = waiting.get(work) ?? new Set();
        waiting.set(work, others);
        const resume = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', resume);
          others.delete(resume);
          if (others.size === 0) waiting.delete(work);
          resolve();
        };
        const timer = setTimeout(resume, milliseconds);
        signal?.addEventListener('abort', resume, { once: true });
        others.add(resume);
        if (signal?.aborted) resume();
      }),
  };
}
