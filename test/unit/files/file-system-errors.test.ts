/** Files that another program holds for a moment: requested again, so often and no more, and only where it helps. */

import { describe, expect, it } from 'vitest';
import { retryWhileBusy } from '../../../src/files/file-system-errors.ts';

const failure = (code: string) => Object.assign(new Error(code), { code, syscall: 'rename' });

/** Fails so often with this code. */
async function attempt(code: string, times: number, platform: NodeJS.Platform) {
  const waits: number[] = [];
  let calls = 0;
  const work = async (): Promise<string> => {
    if (++calls <= times) throw failure(code);
    return 'done';
  };
  const sleep = async (milliseconds: number): Promise<void> => void waits.push(milliseconds);
  const result = await retryWhileBusy('rename it', work, { platform, sleep }).catch((error: unknown) => error);
  return { result, calls, waited: waits.reduce((sum, wait) => sum + wait, 0) };
}

describe('what another program holds', () => {
  it.each<[string, NodeJS.Platform]>([
    ['EBUSY', 'win32'],
    ['EPERM', 'win32'],
    ['EACCES', 'win32'],
    ['EBUSY', 'linux'],
  ])('is acquired once it is let go: %s on %s', async (code, platform) => {
    expect(await attempt(code, 3, platform)).toEqual({ result: 'done', calls: 4, waited: 170 });
  });

  it.each<[string, NodeJS.Platform, string]>([
    ['EBUSY', 'win32', 'file-busy'],
    ['EPERM', 'win32', 'permission-denied'],
    ['EACCES', 'win32', 'permission-denied'],
  ])('is given up after two seconds: %s on %s', async (code, platform, expected) => {
    const { result, calls, waited } = await attempt(code, 100, platform);
    expect([result, calls, waited]).toEqual([expect.objectContaining({ code: expected }), 7, 1920]);
  });

  it.each<[string, NodeJS.Platform]>([
    ['EPERM', 'linux'],
    ['EACCES', 'darwin'],
    ['ENOSPC', 'win32'],
  ])('is not waited for where waiting does not help: %s on %s', async (code, platform) => {
    expect(await attempt(code, 1, platform)).toMatchObject({ calls: 1, waited: 0 });
  });
});
