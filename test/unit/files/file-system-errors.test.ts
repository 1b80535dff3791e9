/** Files that another program has open for a moment. */

import { expect, it } from 'vitest';
import { retryWhileBusy } from '../../../src/files/file-system-errors.ts';

it.each<[string, NodeJS.Platform, { calls: number; waited: number; failed?: string }]>([
  ['EBUSY', 'win32', { calls: 4, waited: 170 }],
  ['EPERM', 'win32', { calls: 4, waited: 170 }],
  ['EACCES', 'win32', { calls: 4, waited: 170 }],
  ['EBUSY', 'linux', { calls: 4, waited: 170 }],
  ['EBUSY', 'win32', { calls: 7, waited: 1920, failed: 'file-busy' }],
  ['EPERM', 'win32', { calls: 7, waited: 1920, failed: 'permission-denied' }],
  ['EPERM', 'linux', { calls: 1, waited: 0, failed: 'permission-denied' }],
  ['EACCES', 'darwin', { calls: 1, waited: 0, failed: 'permission-denied' }],
  ['ENOSPC', 'win32', { calls: 1, waited: 0, failed: 'disk-full' }],
])('%s on %s: %o', async (code, platform, { calls, waited, failed }) => {
  let [made, slept] = [0, 0];
  const work = async (): Promise<string> => {
    if (++made < calls || failed !== undefined) throw Object.assign(new Error(code), { code, syscall: 'rename' });
    return 'done';
  };
  const sleep = async (milliseconds: number): Promise<void> => {
    slept += milliseconds;
  };
  const retried = retryWhileBusy('rename it', work, { platform, sleep });
  if (failed === undefined) expect(await retried).toBe('done');
  else await expect(retried).rejects.toMatchObject({ code: failed });
  expect([made, slept]).toEqual([calls, waited]);
});
