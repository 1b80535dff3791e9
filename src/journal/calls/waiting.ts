export function createWaiting() {
  const waiting = new Map<string, Set<() => void>>();
  return {
    /** Wakes everything that waits for this work. */
    wake(work: string): void {
      for (const resume of [...(waiting.get(work) ?? [])]) resume();
    },
    /** Until something happens to the work, the time is over, or the signal aborts. */
    wait: (work: string, milliseconds: number, signal: AbortSignal | undefined) =>
      new Promise<void>((resolve) => {
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
