/** Runs that are gone, or are presumed to be, and clocks that jump. */

import { spawn } from 'node:child_process';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Journal } from '../../../src/journal/journal.ts';
import { observeProcesses } from '../../../src/journal/processes.ts';
import { forEach } from '../../support/set-up.ts';
import {
  askingOf,
  claimOf,
  end,
  factsAt,
  journalSetting,
  requestedClaim,
  SIGNATURE,
  sign,
  signAndReport,
  unansweredClaim,
  unfinishedOf,
} from './support/setting.ts';

const MINUTE = 60_000;

const setting = forEach(journalSetting);
let journal: Journal;
beforeEach(async () => {
  journal = await setting.open();
});

/** Asks once whether the file would have to wait. */
async function hasToWait(other: Journal, work = 1): Promise<boolean> {
  const known = other.known(askingOf(work, factsAt('/b')), { signal: AbortSignal.abort() });
  return (await known.catch((thrown) => thrown))?.code === 'claim-interrupted';
}

describe('a run whose process is not visible', () => {
  beforeEach(async () => {
    setting.invisible.add(101);
    await requestedClaim(journal, askingOf(1));
  });

  test('is presumed dead after a quarter of an hour without a sign of life, and two minutes of watching', async () => {
    const other = await setting.open();
    setting.clock.wall += 16 * MINUTE;
    // Its row may be of long ago, and its process at work.
    expect(await hasToWait(other)).toBe(true);
    setting.clock.up += 2 * MINUTE;
    expect(await hasToWait(other)).toBe(true);
    setting.clock.up += MINUTE;
    expect(await hasToWait(other)).toBe(false);
  });

  test('is alive while its clock is ahead, or is set back, as long as it gives signs', async () => {
    const other = await setting.open();
    setting.clock.wall += 20 * MINUTE;
    for (let minute = 0; minute < 5; minute++) {
      expect(await hasToWait(other)).toBe(true);
      setting.clock.up += MINUTE;
      setting.change('update runs set active_at = active_at + 60000 where id = 1');
    }
    expect(await hasToWait(other)).toBe(true);
  });

  test('is not gone by watching alone', async () => {
    const other = await setting.open();
    expect(await hasToWait(other)).toBe(true);
    setting.clock.up += 60 * MINUTE;
    expect(await hasToWait(other)).toBe(true);
  });

  test('that was presumed dead sends nothing more, because its own row shows its end', async () => {
    const other = await setting.open();
    const claim = await requestedClaim(journal, askingOf(2));
    setting.clock.wall += 16 * MINUTE;
    await hasToWait(other);
    setting.clock.up += 3 * MINUTE;
    expect(await hasToWait(other)).toBe(false);
    await (await claimOf(other, askingOf(1, factsAt('/b')))).release();
    expect(() => claim.mayBeSent()).toThrow(expect.objectContaining({ code: 'claim-lost' }));
    await claim.deferred();
    await expect(claim.requested()).rejects.toMatchObject({ code: 'claim-lost' });
  });

  test('is gone too if the clock was set back by a long time', async () => {
    const other = await setting.open();
    setting.clock.wall -= 365 * 24 * 60 * MINUTE;
    expect(await hasToWait(other)).toBe(true);
    setting.clock.up += 3 * MINUTE;
    expect(await hasToWait(other)).toBe(false);
  });

  test('is waited for until it can be presumed dead', async () => {
    let time = 0;
    const other = await setting.open({ patience: 1000, uptime: () => (time += 30_000) });
    await expect(other.known(askingOf(1))).rejects.toMatchObject({ code: 'work-held' });
    expect(time).toBeGreaterThan(130_000);
  });

  test('is listed as in progress for a quarter of an hour', async () => {
    const other = await setting.open();
    expect((await unfinishedOf(other)).map(([kind]) => kind)).toEqual(['under-way']);
    setting.clock.wall += 16 * MINUTE;
    expect((await unfinishedOf(other)).map(([kind]) => kind)).toEqual(['unknown']);
  });
});

test('the order of runs and calls is that of the database, whatever the clocks say', async () => {
  const early = await setting.open();
  setting.clock.wall -= 24 * 60 * MINUTE;
  const claim = await unansweredClaim(journal, askingOf(1));
  await expect(early.known(askingOf(1))).rejects.toMatchObject({ code: 'just-unanswered' });
  setting.clock.wall -= 24 * 60 * MINUTE;
  expect((await claimOf(await setting.open(), askingOf(1))).unknownCalls).toEqual([claim.id]);
});

test('a run that ends takes nothing of others with it', async () => {
  const other = await setting.open();
  const claim = await requestedClaim(other, askingOf(1));
  await journal.close();
  claim.mayBeSent();
  expect(await claim.signed({ signature: SIGNATURE, record: 'r' })).toBe('signed');
});

test('a run that ends releases its claims, and leaves its requests unknown until they are answered', async () => {
  await setting.open();
  await claimOf(journal, askingOf(1));
  const claim = await requestedClaim(journal, askingOf(2));
  await journal.close();
  expect(setting.rows('select state from calls')).toMatchObject([{ state: 'released' }, { state: 'unknown' }]);
  expect(await claim.signed({ signature: SIGNATURE, record: 'r' })).toBe('signed');
});

test('a run that was killed long ago does not keep calls from being removed', async () => {
  const ended = await setting.open();
  await signAndReport(ended, askingOf(1));
  setting.ended.add(101);
  await end(ended);
  setting.clock.wall += 400 * 24 * 60 * MINUTE;
  await end(await setting.open());
  expect(setting.rows('select name from calls')).toEqual([]);
  expect(setting.rows('select id from runs')).toHaveLength(1);
});

test('two concurrent runs in one process share one signature, and one is gone when it is closed', async () => {
  const self = { pid: 999, started: 'now' };
  const [one, other] = [await setting.open({ self }), await setting.open({ self })];
  const claims = await Promise.all([one.claim(askingOf(1)), other.claim(askingOf(1))]);
  expect(claims).toEqual([expect.anything(), undefined]);
  expect(await hasToWait(other)).toBe(true);
  const [claim] = claims;
  if (claim !== undefined) await sign(claim);
  expect(await other.known(askingOf(1, factsAt('/b')))).toMatchObject({ id: claim?.id });
  await requestedClaim(one, askingOf(2));
  expect(await hasToWait(other, 2)).toBe(true);
  await one.close();
  expect(await hasToWait(other, 2)).toBe(false);
});

test('a run in this process that gives no sign of life is presumed dead: its thread may have been terminated', async () => {
  const self = { pid: 999 };
  const [one, other] = [await setting.open({ self }), await setting.open({ self })];
  await requestedClaim(one, askingOf(1));
  setting.clock.wall += 16 * MINUTE;
  expect((await unfinishedOf(other)).map(([kind]) => kind)).toEqual(['unknown']);
  expect(await hasToWait(other)).toBe(true);
  setting.clock.up += 3 * MINUTE;
  expect(await hasToWait(other)).toBe(false);
});

describe('a real process', () => {
  test('runs as long as it runs, and not when another one has its pid', async () => {
    const { self, isRunning } = observeProcesses();
    expect(isRunning(self)).toBe(true);
    expect(isRunning({ ...self, started: '1' })).toBe(false);
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' });
    const { pid = 0 } = child;
    const one = { ...self, pid };
    expect(isRunning({ ...one, started: undefined })).toBeUndefined();
    child.kill();
    await new Promise((resolve) => child.once('close', resolve));
    expect(isRunning(one)).toBe(false);
  });

  test('that had the pid of this one has ended, also where the system does not report when processes were started', () => {
    const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('win32');
    onTestFinished(() => platform.mockRestore());
    const { self, isRunning } = observeProcesses();
    expect(isRunning(self)).toBe(true);
    expect(isRunning({ ...self, started: '1' })).toBe(false);
    expect(isRunning({ ...self, pid: process.ppid })).toBeUndefined();
  });

  test('of another boot has ended; of another host or container it cannot be known', () => {
    const { self, isRunning } = observeProcesses();
    if (self.boot !== undefined) expect(isRunning({ ...self, boot: 'earlier' })).toBe(false);
    expect(isRunning({ ...self, host: 'elsewhere' })).toBeUndefined();
    expect(isRunning({ ...self, space: 'pid:[1]' })).toBeUndefined();
  });
});
