/** Who holds a claim: processes that run, that have ended, that cannot be seen, and how real ones are recognised. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../../../src/journal/journal.ts';
import { observeProcesses, PRESUMED_ENDED_MILLISECONDS } from '../../../src/journal/processes.ts';
import {
  factsOf,
  historyOf,
  journalSetting,
  type Setting,
  SIGNATURE,
  sign,
  unfinishedOf,
  workOf,
} from './support/setting.ts';

const WORK = workOf(1);

describe('a claim of a process that cannot be seen from here', () => {
  let setting: Setting;
  let journal: Journal;
  beforeEach(async () => {
    setting = await journalSetting();
    journal = await setting.open();
    setting.invisible.add(101);
  });
  afterEach(() => setting[Symbol.asyncDispose]());

  test('is respected for a quarter of an hour', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    const other = await setting.open({ self: { host: 'there' } });
    setting.clock.wall = PRESUMED_ENDED_MILLISECONDS - 1;
    expect(await unfinishedOf(other)).toEqual([['under-way', claim.id]]);
    const told: string[] = [];
    const waiting = other.claim(WORK, factsOf('a'), { onWait: (whom) => told.push(whom) });
    await expect.poll(() => told).toEqual(['process 101 on here']);
    setting.clock.wall = PRESUMED_ENDED_MILLISECONDS + 1;
    expect(await waiting).toMatchObject({ known: undefined, unknownCalls: [claim.id], justUnanswered: true });
  });

  test('is respected for a quarter of an hour of watching when its clock is ahead', async () => {
    setting.clock.wall = 86_400_000;
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    setting.clock.wall = 0;
    const other = await setting.open();
    let waits = false;
    const onWait = (): void => {
      waits = true;
    };
    const waiting = other.claim(WORK, factsOf('a'), { onWait });
    await expect.poll(() => waits).toBe(true);
    setting.clock.up += PRESUMED_ENDED_MILLISECONDS + 1;
    expect((await waiting).unknownCalls).toEqual([claim.id]);
  });

  test('and that is taken over before it asked asks nothing', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    setting.clock.wall = PRESUMED_ENDED_MILLISECONDS + 1;
    const next = await (await setting.open()).claim(WORK, factsOf('a'));
    expect(next.unknownCalls).toEqual([]);
    await expect(claim.requested()).rejects.toMatchObject({ code: 'claim-lost', category: 'local' });
    await claim.release();
    await next.requested();
  });

  test('and that waits to repeat a request that made no signature leaves nothing that may have been counted', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    await claim.deferred();
    setting.clock.wall = PRESUMED_ENDED_MILLISECONDS + 1;
    const other = await setting.open();
    expect(await unfinishedOf(other)).toEqual([]);
    expect(await other.claim(WORK, factsOf('a'))).toMatchObject({ known: undefined, unknownCalls: [] });
  });

  test('and that repeats such a request may have been counted', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    await claim.deferred();
    await claim.requested();
    setting.clock.wall = PRESUMED_ENDED_MILLISECONDS + 1;
    expect(await unfinishedOf(await setting.open())).toEqual([['unknown', claim.id]]);
  });

  test('and that is taken over while it asks keeps its signature', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    setting.clock.wall = PRESUMED_ENDED_MILLISECONDS + 1;
    const other = await setting.open();
    const next = await other.claim(WORK, factsOf('b'));
    expect(next.unknownCalls).toEqual([claim.id]);
    await claim.signed({ signature: SIGNATURE, record: 'r-1' });
    expect(await claim.written('a')).toMatchObject({ reportDue: true });
    await claim.reported(1);
    await sign(next, 'r-2');
    await next.written('b');
    await next.reported(1);
    expect((await historyOf(other)).map(({ record, outcome }) => [record, outcome])).toEqual([
      ['r-1', 'written'],
      ['r-2', 'written'],
    ]);
    expect(await unfinishedOf(other)).toEqual([]);
  });
});

describe('a real process', () => {
  test('runs as long as it runs, and not when another one has its pid', async () => {
    const processes = await observeProcesses();
    expect(await processes.isRunning(processes.self)).toBe(true);
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const holder = { ...processes.self, pid: child.pid ?? 0, started: undefined };
    expect(await processes.isRunning(holder)).not.toBe(false);
    if (processes.self.started !== undefined) {
      expect(await processes.isRunning({ ...holder, started: '1' })).toBe(false);
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await processes.isRunning(holder)).toBe(false);
  });

  test('of another boot has ended; of another host or container it cannot be known', async () => {
    const { self, isRunning } = await observeProcesses();
    const booted = { ...self, boot: self.boot ?? 'this one' };
    if (self.boot !== undefined) expect(await isRunning({ ...booted, boot: 'another' })).toBe(false);
    expect(await isRunning({ ...self, host: 'elsewhere' })).toBeUndefined();
    expect(await isRunning({ ...self, space: 'pid:[1]' })).toBeUndefined();
  });

  test.skipIf(process.platform !== 'linux')('has ended when only its parent has not noticed yet', async () => {
    const { self, isRunning } = await observeProcesses();
    // The shell becomes a sleep, which never asks how its child ended.
    const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 30'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(line.toString());
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      const holder = { ...self, pid, started: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] };
      expect(await isRunning(holder)).toBe(true);
      await expect.poll(() => isRunning(holder)).toBe(false);
      expect(process.kill(pid, 0)).toBe(true);
    } finally {
      parent.kill('SIGKILL');
    }
  });
});
