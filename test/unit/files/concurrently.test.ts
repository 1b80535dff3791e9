/** Which file gets the next free slot, and that neither kind of file waits for the other to end. */

import { describe, expect, it } from 'vitest';
import { concurrently } from '../../../src/files/concurrently.ts';

const MEGABYTE = 1024 * 1024;

interface TestFile {
  readonly name: string;
  readonly bytes: number;
}

const smallFiles = (count: number): TestFile[] => named('small', count, MEGABYTE);
const largeFiles = (count: number): TestFile[] => named('large', count, 500 * MEGABYTE);
function named(kind: string, count: number, bytes: number): TestFile[] {
  return Array.from({ length: count }, (_, index) => ({ name: `${kind}-${index}`, bytes }));
}

/** Runs files that end only when told; gives what is under way. */
function start(files: readonly TestFile[], concurrency: number) {
  const underWay = new Map<string, () => void>();
  const run = ({ name }: TestFile) => new Promise<string>((resolve) => underWay.set(name, () => resolve(name)));
  const outcomes = concurrently(files, { concurrency, bytesOf: ({ bytes }) => bytes }, run);
  return {
    outcomes,
    names: () => [...underWay.keys()].sort(),
    async end(name: string): Promise<void> {
      underWay.get(name)?.();
      underWay.delete(name);
      await new Promise(setImmediate);
    },
  };
}

describe('files side by side', () => {
  it('have their outcomes in the order given, however they end', async () => {
    const files = [...largeFiles(2), ...smallFiles(2)];
    const run = start(files, 4);
    for (const name of run.names().reverse()) await run.end(name);
    expect(await run.outcomes).toEqual(['large-0', 'large-1', 'small-0', 'small-1']);
  });

  it.each([
    { at: 'first', order: (large: TestFile[], small: TestFile[]) => [...large, ...small] },
    { at: 'last', order: (large: TestFile[], small: TestFile[]) => [...small, ...large] },
  ])(
    'large ones named $at have two places while small ones wait, and the small ones have the others',
    async ({ order }) => {
      const run = start(order(largeFiles(5), smallFiles(9)), 4);
      expect(run.names()).toEqual(['large-0', 'large-1', 'small-0', 'small-1']);
      await run.end('small-0');
      expect(run.names()).toEqual(['large-0', 'large-1', 'small-1', 'small-2']);
      await run.end('large-1');
      expect(run.names()).toEqual(['large-0', 'large-2', 'small-1', 'small-2']);
    },
  );

  it('of one kind take every place', async () => {
    expect(start(largeFiles(9), 4).names()).toHaveLength(4);
    expect(start(smallFiles(9), 4).names()).toHaveLength(4);
  });

  it('leave no place empty when the last of a kind has begun', async () => {
    const run = start([...largeFiles(5), ...smallFiles(1)], 4);
    expect(run.names()).toEqual(['large-0', 'large-1', 'large-2', 'small-0']);
    await run.end('small-0');
    expect(run.names()).toEqual(['large-0', 'large-1', 'large-2', 'large-3']);
  });

  it('two concurrent ones are one of each kind', async () => {
    const run = start([...largeFiles(3), ...smallFiles(3)], 2);
    expect(run.names()).toEqual(['large-0', 'small-0']);
    await run.end('large-0');
    expect(run.names()).toEqual(['large-1', 'small-0']);
  });

  it('one at a time keep the order given', async () => {
    const files = [...smallFiles(1), ...largeFiles(2), ...named('more', 2, 1)];
    const begun: string[] = [];
    await concurrently(files, { concurrency: 1, bytesOf: ({ bytes }) => bytes }, async ({ name }) => begun.push(name));
    expect(begun).toEqual(['small-0', 'large-0', 'large-1', 'more-0', 'more-1']);
  });

  it('are none for no file', async () => {
    expect(await start([], 4).outcomes).toEqual([]);
  });
});
