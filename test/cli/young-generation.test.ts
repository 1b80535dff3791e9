import { beforeEach, expect, it, vi } from 'vitest';
import { makeRoomFor } from '../../src/cli/young-generation.ts';

const MEBIBYTE = 1024 * 1024;
const [GROWS, STAYS] = ['--semi-space-growth-factor=4', '--semi-space-growth-factor=1'];

let flags: string[];
let size: number;
const heap = {
  setFlagsFromString: (flag: string) => void flags.push(flag),
  getHeapSpaceStatistics: () => [
    { space_name: 'old_space', space_size: 100 * MEBIBYTE },
    { space_name: 'new_space', space_size: size },
  ],
};
beforeEach(() => {
  [flags, size] = [[], 2 * MEBIBYTE];
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

it('grows for many files until it is large enough, and no further', () => {
  makeRoomFor(1000, heap);
  vi.advanceTimersByTime(1000);
  expect(flags).toEqual([GROWS]);
  size = 8 * MEBIBYTE;
  vi.advanceTimersByTime(1000);
  expect(flags).toEqual([GROWS, STAYS]);
  expect(vi.getTimerCount()).toBe(0);
});

it('stays as it is for few files', () => {
  makeRoomFor(10, heap)();
  expect([flags, vi.getTimerCount()]).toEqual([[], 0]);
});

it('does not grow any more when the run is over', () => {
  makeRoomFor(1000, heap)();
  expect([flags, vi.getTimerCount()]).toEqual([[GROWS, STAYS], 0]);
});
