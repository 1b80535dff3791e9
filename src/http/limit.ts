import type { LimitFunction } from 'p-limit';

/** Rejects as soon as the signal is aborted, unless the task has already started. */
export function withinLimit<T>(limit: LimitFunction, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal?.reason);
    if (signal?.aborted) return leave();
    signal?.addEventListener('abort', leave, { once: true });
    void limit(async () => {
      signal?.removeEventListener('abort', leave);
      if (!signal?.aborted) await task().then(resolve, reject);
    });
  });
}
