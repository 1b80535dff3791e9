import { vi } from 'vitest';

const now = performance.now.bind(performance);

/** Lets time pass on the steady clock without waiting for it. @param milliseconds */
export function pass(milliseconds: number): void {
  const ahead = performance.now() - now() + milliseconds;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
}
