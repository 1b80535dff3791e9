/** Steps of calls and files: reports, late answers, equal files, and a journal that cannot be written. */

import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/journal/driver.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { forEach } from '../../support/set-up.ts';
import {
  askingOf,
  claimOf,
  end,
  factsAt,
  GIVEN,
  historyOf,
  journalSetting,
  requestedClaim,
  SIGNATURE,
  sign,
  signAndReport,
  signedClaim,
  unansweredClaim,
  unfinishedOf,
} from './support/setting.ts';

const DAY = 24 * 3_600_000;

const setting = forEach(journalSetting);
let journal: Journal;
beforeEach(async () => {
  journal = await setting.open();
});

describe('a call that succeeds', () => {
  test('is in the history, and leaves nothing unfinished', async () => {
    const claim = await claimOf(journal, askingOf(1));
    setting.clock.wall += 1000;
    await sign(claim, 'record-1');
    await claim.stamped(new Uint8Array([1, 2, 3]));
    expect(await journal.known(askingOf(1))).toMatchObject({ known: { token: new Uint8Array([1, 2, 3]) } });
    expect(await claim.written('abcd')).toEqual({ reportDue: 1, reported: undefined });
    await claim.reported(1);
    expect(await unfinishedOf(journal)).toEqual([]);
    const times = { at: '2026-11-20T12:00:00.000Z', ended: '2026-11-20T12:00:01.000Z' };
    expect(await historyOf(journal)).toMatchObject([{ id: claim.id, ...times, sha256: ['abcd'], outcome: 'written' }]);
  });

  test('without a record, or whose user wants no report, has nothing to report', async () => {
    const claim = await requestedClaim(journal, askingOf(1));
    await claim.signed({ signature: SIGNATURE, record: undefined });
    expect(await claim.written()).toMatchObject({ reportDue: undefined });
    const quiet = await signedClaim(journal, askingOf(2, factsAt('/2', { report: false })));
    expect(await quiet.written()).toMatchObject({ reportDue: undefined });
    expect([setting.stateOf(claim), setting.stateOf(quiet)]).toEqual(['closed', 'closed']);
  });
});

test('a file that is written while the signature is reported as failed makes the other report due', async () => {
  const claim = await signedClaim(journal, askingOf(1));
  await claim.written();
  await claim.reported(2);
  expect((await (await setting.openAfterKill()).unfinished())[0]).toMatchObject({ kind: 'unreported', reportDue: 1 });
});

describe('equal files', () => {
  test('are reported with the first that is written, and close the call with the last', async () => {
    const claim = await signedClaim(journal, askingOf(1));
    const shared = await journal.known(askingOf(1, factsAt('/b')));
    expect(await shared?.written()).toEqual({ reportDue: 1, reported: undefined });
    await shared?.reported(1);
    expect(setting.stateOf(claim)).toBe('signed');
    expect(await claim.written()).toEqual({ reportDue: undefined, reported: 1 });
    expect(setting.stateOf(claim)).toBe('closed');
    expect((await historyOf(journal))[0]).toMatchObject({ filesWritten: 2, reported: 1 });
  });

  test('of which one fails wait for it', async () => {
    const claim = await signedClaim(journal, askingOf(1));
    const shared = await journal.known(askingOf(1, factsAt('/b')));
    await claim.notWritten('the disk was full');
    await shared?.written();
    await shared?.reported(1);
    await end(journal);
    const later = await setting.open();
    expect(await unfinishedOf(later)).toEqual([['unwritten', claim.id]]);
    expect((await later.unfinished())[0]?.files).toMatchObject([
      { file: '/1', written: false, reason: 'the disk was full' },
      { file: '/b', written: true },
    ]);
    await (await later.known(askingOf(1)))?.written();
    expect(await unfinishedOf(later)).toEqual([]);
  });

  test('to one path: the loser is abandoned when it finds that its original changed', async () => {
    const claim = await signedClaim(journal, askingOf(1));
    const other = await setting.open();
    const loser = await other.known(askingOf(1, factsAt('/other-name', { output: '/1' })));
    await claim.written();
    await claim.reported(1);
    await loser?.notWritten('it changed', true);
    expect(setting.stateOf(claim)).toBe('closed');
    await end(other);
    expect(await unfinishedOf(journal)).toEqual([]);
  });

  test('of a run that ends leave the call to a run whose file waits', async () => {
    const claim = await signedClaim(journal, askingOf(1));
    const other = await setting.open();
    const shared = await other.known(askingOf(1, factsAt('/b')));
    await claim.notWritten('no');
    await journal.close();
    setting.ended.add(101);
    expect(await unfinishedOf(other)).toEqual([['under-way', claim.id]]);
    expect(await shared?.written()).toMatchObject({ reportDue: 1 });
    await shared?.reported(1);
    // The file of the run that is gone still waits.
    expect(await unfinishedOf(other)).toEqual([['unwritten', claim.id]]);
  });
});

describe('an answer that arrives after another process presumed this one dead', () => {
  test('is kept as the signature of the work, if no other call is open', async () => {
    const claim = await requestedClaim(journal, askingOf(1));
    const other = await setting.openAfterKill();
    await (await claimOf(other, askingOf(1))).release();
    expect(() => claim.mayBeSent()).toThrow(expect.objectContaining({ code: 'claim-lost' }));
    expect(await claim.signed(GIVEN)).toBe('signed');
    expect(journal.warnings).toEqual([expect.stringContaining('[late-answer]')]);
    expect(setting.stateOf(claim)).toBe('signed');
    expect(await other.known(askingOf(1))).toMatchObject({ id: claim.id });
  });

  test('is kept as surplus, and due as failed, if another call is open', async () => {
    const claim = await requestedClaim(journal, askingOf(1));
    const other = await setting.openAfterKill();
    const second = await requestedClaim(other, askingOf(1));
    expect(await claim.signed(GIVEN)).toBe('surplus');
    await second.signed({ ...GIVEN, record: 'second' });
    expect((await other.unfinished())[0]).toMatchObject({ id: claim.id, kind: 'surplus', record: 'r', reportDue: 2 });
    // It makes no request any more.
    const third = await claimOf(journal, askingOf(2));
    await expect(third.requested()).rejects.toMatchObject({ code: 'claim-lost' });
    expect(await other.forget(claim.id, 2)).toBe('forgotten');
    expect(await other.reported(claim.id, 2)).toBe(true);
    expect((await historyOf(other))[0]).toMatchObject({ outcome: 'given-up', counted: 'yes', reported: 2 });
  });

  test('is kept as surplus after the user forgot the call', async () => {
    const claim = await requestedClaim(journal, askingOf(1));
    const other = await setting.openAfterKill();
    await other.forget(claim.id);
    expect(await claim.signed(GIVEN)).toBe('surplus');
  });
});

test('a forgotten call waits for its report, also if the process is killed before it sends it', async () => {
  const claim = await signedClaim(journal, askingOf(1));
  await end(journal);
  const killed = await setting.open();
  expect(await killed.forget(claim.id, 2)).toBe('forgotten');
  expect(await killed.known(askingOf(1))).toBeUndefined();
  setting.ended.add(102);
  setting.clock.wall += 400 * DAY;
  await end(await setting.open());
  const later = await setting.open();
  expect(await later.unfinished()).toMatchObject([{ id: claim.id, kind: 'unreported', reportDue: 2 }]);
  expect(await later.reported(claim.id, 2)).toBe(true);
  expect(await unfinishedOf(later)).toEqual([]);
  expect((await historyOf(later))[0]).toMatchObject({ outcome: 'given-up', reported: 2 });
});

test('a call that a process works on cannot be forgotten', async () => {
  const claim = await claimOf(journal, askingOf(1));
  expect(await (await setting.open()).forget(claim.id)).toBe('under-way');
  expect([await journal.forget('none'), await journal.reported('none', 1)]).toEqual(['not-found', false]);
});

/** Opens the journal on a disk that fails chosen statements as a full one does. */
async function openOnDisk() {
  const disk = { isFull: (_sql: string): boolean => false };
  const written = (sql: string): string => {
    if (disk.isFull(sql)) throw Object.assign(new Error('disk is full'), { code: 'SQLITE_FULL', errcode: 13 });
    return sql;
  };
  const open = (path: string): Database => {
    const db = openDatabase(path);
    return {
      ...db,
      exec: (sql) => db.exec(written(sql)),
      run: (sql, ...values) => db.run(written(sql), ...values),
    };
  };
  return { disk, run: await setting.open({ openDatabase: open }) };
}

describe('a journal that cannot be written', () => {
  test.each(['an entry', 'the commit'])(
    'at %s of a signature: it stays in memory, and is tried again with each commit',
    async (what) => {
      const { disk, run } = await openOnDisk();
      const claim = await claimOf(run, askingOf(1));
      const next = await claimOf(run, askingOf(2));
      await claim.requested();
      disk.isFull = (sql) => (what === 'an entry' ? sql.includes('signature = ?') : sql === 'commit');
      await expect(claim.signed(GIVEN)).rejects.toMatchObject({ code: 'journal-full' });
      // Equal files of this run use it, and no more requests are made.
      const shared = await run.known(askingOf(1, factsAt('/b')));
      expect(shared).toMatchObject({ id: claim.id, known: GIVEN });
      await expect(next.requested()).rejects.toMatchObject({ code: 'journal-unusable' });
      await expect(run.claim(askingOf(3))).rejects.toMatchObject({ code: 'journal-unusable' });
      // No later run could find the signature.
      for (const call of [claim, shared]) {
        await expect(call?.notWritten('no')).rejects.toMatchObject({ code: 'journal-unusable' });
      }
      disk.isFull = () => false;
      expect(await claim.written()).toMatchObject({ reportDue: 1 });
      expect(setting.stateOf(claim)).toBe('closed');
      await run.close();
      expect(setting.rows('select ended from runs').map(({ ended }) => typeof ended)).toEqual(['object', 'number']);
    },
  );

  test('until the end: the run prints id and record', async () => {
    const { disk, run } = await openOnDisk();
    const claim = await requestedClaim(run, askingOf(1));
    disk.isFull = (sql) => sql.includes('signature = ?');
    await expect(claim.signed(GIVEN)).rejects.toMatchObject({ code: 'journal-full' });
    await claim.written();
    await run.close();
    expect(run.warnings.join('\n')).toContain(`call ${claim.id}, record r at the service`);
    expect(setting.stateOf(claim)).toBe('unknown');
  });

  test('for one file of a group takes nothing else with it', async () => {
    const { disk, run } = await openOnDisk();
    const claims = await Promise.all([1, 2, 3].map((number) => claimOf(run, askingOf(number))));
    let statements = 0;
    disk.isFull = (sql) => sql.includes("set state = 'requested'") && ++statements === 2;
    await Promise.all(claims.map((claim) => claim.requested()));
    expect(setting.rows('select distinct state from calls')).toMatchObject([{ state: 'requested' }]);
  });

  test('releases the reserved space, only for paid signatures', async () => {
    const space = join(setting.folder, 'journal.space');
    expect(statSync(space).size).toBe(256 * 1024);
    const { disk, run } = await openOnDisk();
    const claim = await claimOf(run, askingOf(1));
    const isThere = () => statSync(space, { throwIfNoEntry: false }) !== undefined;
    disk.isFull = () => isThere();
    await expect(claim.requested()).rejects.toMatchObject({ code: 'journal-full' });
    expect(isThere()).toBe(true);
    disk.isFull = () => false;
    await claim.requested();
    disk.isFull = () => isThere();
    expect(await claim.signed(GIVEN)).toBe('signed');
    expect(isThere()).toBe(false);
    disk.isFull = () => false;
    await setting.open();
    expect(isThere()).toBe(true);
  });
});

test.each(['journal.db', 'journal.db-wal', 'journal.db-shm'])(
  'files of the database that are removed or replaced during a run %s: no more requests, with a warning',
  async (name) => {
    const claim = await claimOf(journal, askingOf(1));
    const next = await claimOf(journal, askingOf(2));
    await claim.requested();
    claim.mayBeSent();
    rmSync(join(setting.folder, name));
    await claim.signed(GIVEN);
    expect(journal.warnings).toEqual([expect.stringContaining('[journal-replaced]')]);
    expect(() => claim.mayBeSent()).toThrow(expect.objectContaining({ code: 'journal-unusable' }));
    await expect(next.requested()).rejects.toMatchObject({ code: 'journal-unusable' });
  },
);

test('a request that is held up for two minutes after its commit is not sent', async () => {
  const claim = await requestedClaim(journal, askingOf(1));
  setting.clock.up += 119_000;
  claim.mayBeSent();
  setting.clock.up += 2000;
  expect(() => claim.mayBeSent()).toThrow(expect.objectContaining({ code: 'claim-lost' }));
});

test('calls are removed after the days that they are kept, and only when nothing needs them', async () => {
  await signAndReport(journal, askingOf(1));
  const waits = await signedClaim(journal, askingOf(2));
  await waits.notWritten('no');
  await (await claimOf(journal, askingOf(3))).release();
  await end(journal);
  const second = await setting.open({ keepDays: 30 });
  expect(await historyOf(second)).toHaveLength(2);
  setting.clock.wall += 29 * DAY;
  await end(second);
  const third = await setting.open({ keepDays: 30 });
  expect(await historyOf(third)).toHaveLength(2);
  setting.clock.wall += 2 * DAY;
  const live = await setting.open({ keepDays: 30 });
  await end(third);
  expect((await historyOf(live)).map(({ id }) => id)).toEqual([waits.id]);
  expect(setting.rows('select name from calls')).toHaveLength(1);
});

test('later calls are removed next to calls that stay forever', async () => {
  await unansweredClaim(journal, askingOf(1));
  setting.copyCall(1000);
  const closed = await signAndReport(journal, askingOf(2));
  await end(journal);
  setting.clock.wall += 100 * DAY;
  await end(await setting.open());
  expect(setting.stateOf(closed)).toBeUndefined();
  expect(setting.rows("select 1 from calls where state = 'unknown'")).toHaveLength(1000);
});
