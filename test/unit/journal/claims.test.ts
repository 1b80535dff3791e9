/** Who may request a signature, who uses one that is there, and what is remembered of each call. */

import fs, { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CodesignError } from '../../../src/errors/codesign-error.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import {
  factsAt,
  factsOf,
  historyOf,
  journalSetting,
  type Setting,
  SIGNATURE,
  sign,
  signAndReport,
  unfinishedOf,
  workOf,
} from './support/setting.ts';

let setting: Setting;
let journal: Journal;
beforeEach(async () => {
  setting = await journalSetting();
  journal = await setting.open();
});
afterEach(() => setting[Symbol.asyncDispose]());

const WORK = workOf(1);

/** No signature verifies. */
const findMismatch = (_known: unknown, call: string) =>
  new CodesignError({ code: 'mismatch', category: 'local', message: call });

describe('a call that succeeds', () => {
  test('is in the history with all that is to be known, and leaves nothing unfinished', async () => {
    const claim = await journal.claim(WORK, factsOf('app.exe'));
    expect(claim).toMatchObject({ known: undefined, unknownCalls: [], justUnanswered: false });
    setting.clock.wall = 5000;
    await sign(claim, 'r-1');
    expect(await claim.written('/out/app.exe', 'abcd')).toMatchObject({ reportDue: true });
    await claim.reported(1);
    expect(await historyOf(journal)).toEqual([
      {
        id: claim.id,
        at: '2026-11-20T12:00:00.000Z',
        ended: '2026-11-20T12:00:05.000Z',
        file: 'app.exe',
        bytes: 1234,
        filesWritten: 1,
        sha256: ['abcd'],
        certificate: { name: 'Example Ltd', sha256: 'aa' },
        origin: 'https://sign.example',
        code: 'C-1',
        algorithm: 'SHA256',
        digest: WORK.digest,
        record: 'r-1',
        outcome: 'written',
        counted: 'yes',
        reported: 1,
        reason: undefined,
      },
    ]);
    expect(await journal.unfinished()).toEqual([]);
    expect((await setting.files()).filter((file) => /^(calls|aside)\//.test(file))).toEqual([]);
  });

  test('and whose journal fails from the answer until after the report is counted anyway', async () => {
    const claim = await journal.claim(WORK, factsOf('app.exe'));
    await claim.requested();
    const names = ['calls', 'aside'];
    for (const name of names) {
      await rename(join(setting.folder, name), join(setting.folder, `${name}-away`));
      await writeFile(join(setting.folder, name), '');
    }
    await expect(claim.signed({ signature: SIGNATURE, record: 'r-1' })).rejects.toMatchObject({
      code: 'journal-unusable',
    });
    await expect(claim.written('app.exe')).rejects.toMatchObject({ code: 'journal-unusable' });
    for (const name of names) {
      await rm(join(setting.folder, name));
      await rename(join(setting.folder, `${name}-away`), join(setting.folder, name));
    }
    await claim.reported(1);
    expect(await historyOf(journal)).toMatchObject([
      { outcome: 'written', counted: 'yes', record: 'r-1', reported: 1 },
    ]);
    expect(await journal.unfinished()).toEqual([]);
  });

  test('and whose file fails while the disk is full is recorded as failed, and the others as written', async () => {
    const first = await journal.claim(WORK, factsAt('/one.exe'));
    await sign(first);
    const second = await journal.claim(WORK, factsAt('/two.exe'));
    await first.written('/one.exe');
    const { writeSync } = fs;
    let refused = 0;
    const restore = (): void => {
      fs.writeSync = writeSync;
      syncBuiltinESMExports();
    };
    fs.writeSync = () => {
      refused += 1;
      restore();
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    };
    syncBuiltinESMExports();
    try {
      expect(await second.notWritten('no space')).toEqual({ reportDue: false, reported: undefined });
      expect(refused).toBe(1);
    } finally {
      restore();
    }
  });

  test('keeps what it was given when all of the journal was removed during that time', async () => {
    const claim = await journal.claim(WORK, factsOf('app.exe'));
    await claim.requested();
    await rm(setting.folder, { recursive: true });
    await claim.signed({ signature: SIGNATURE, record: 'r-1' });
    await claim.notWritten('no timestamp');
    const next = await (await setting.open()).claim(WORK, factsOf('app.exe'));
    expect(next.known).toMatchObject({ record: 'r-1' });
    await next.release();
  });

  test('without a record id has nothing to report', async () => {
    const claim = await journal.claim(WORK, factsOf('app.exe'));
    await claim.requested();
    await claim.signed({ signature: SIGNATURE, record: undefined });
    expect(await claim.written('app.exe')).toMatchObject({ reportDue: false });
    expect(await historyOf(journal)).toMatchObject([{ outcome: 'written', record: undefined, reported: undefined }]);
  });

  test('that needs no report is finished, too', async () => {
    const claim = await journal.claim(WORK, factsOf('app.exe'));
    await sign(claim);
    await claim.written('app.exe');
    await claim.reported('not-wanted');
    expect(await unfinishedOf(journal)).toEqual([]);
    expect(await historyOf(journal)).toMatchObject([{ outcome: 'written', reported: undefined }]);
  });

  test('is over, and not unreported, when its process was killed before it could note that no report is needed', async () => {
    const claim = await journal.claim(WORK, factsAt('/app.exe', { report: false }));
    await sign(claim);
    expect(await claim.written('/app.exe')).toMatchObject({ reportDue: false });
    setting.ended.add(101);
    const later = await setting.open();
    expect(await unfinishedOf(later)).toEqual([]);
    expect(await historyOf(later)).toMatchObject([{ outcome: 'written', reported: undefined }]);
  });

  test('is reported when one of its files wants that', async () => {
    const claim = await journal.claim(WORK, factsAt('/a.exe', { report: false }));
    await sign(claim);
    const other = await journal.claim(WORK, factsAt('/b.exe', { report: true }));
    await claim.written('/a.exe');
    expect(await other.written('/b.exe')).toMatchObject({ reportDue: true });
  });

  test('is asked again by a run that begins later, when its own has ended well', async () => {
    await signAndReport(journal, WORK, 'app.exe');
    await journal.ended();
    setting.clock.up += 1;
    const later = await setting.open();
    expect((await later.claim(WORK, factsOf('app.exe'))).known).toBeUndefined();
  });

  test('is of no use for a certificate that replaced its own, even if its run did not end', async () => {
    await signAndReport(journal, WORK, 'app.exe');
    const later = await setting.open();
    const claim = await later.claim(WORK, factsOf('app.exe', 'new'), { findMismatch });
    expect([claim.known, await later.mismatches({ ...WORK, leaf: 'new' })]).toEqual([undefined, []]);
  });

  test('proves that certificate number and certificate belong together', async () => {
    const pair = { origin: WORK.origin, code: WORK.code, leaf: 'aa' };
    expect(await journal.isProven(pair)).toBe(false);
    await signAndReport(journal, WORK, 'app.exe');
    const later = await setting.open();
    expect(await later.isProven(pair)).toBe(true);
    expect(await later.isProven({ ...pair, leaf: 'bb' })).toBe(false);
    expect(await later.isProven({ ...pair, code: 'C-2' })).toBe(false);
  });
});

describe('a certificate number and a certificate that do not belong together', () => {
  const pair = { origin: WORK.origin, code: WORK.code, leaf: factsOf('').certificate.sha256 };
  /** A signature that does not verify; returns the id of its call. */
  async function getMismatch(number: number): Promise<string> {
    const claim = await journal.claim(workOf(number), factsOf('app.exe'));
    await sign(claim);
    await claim.unusable('it does not verify');
    return claim.id;
  }

  test('are known from the first signature on, in every run', async () => {
    expect(await journal.mismatches(pair)).toEqual([]);
    const id = await getMismatch(1);
    const other = await setting.open();
    expect(await other.mismatches(pair)).toEqual([id]);
    expect(await other.mismatches({ ...pair, leaf: 'bb' })).toEqual([]);
    expect(await other.mismatches({ ...pair, code: 'C-2' })).toEqual([]);
    expect(await other.mismatches({ ...pair, origin: 'https://other.example' })).toEqual([]);
  });

  test('are known from a signature that another certificate was meant for', async () => {
    const claim = await journal.claim(WORK, factsOf('app.exe', 'right'));
    await sign(claim);
    await expect(journal.claim(WORK, factsOf('app.exe'), { findMismatch })).rejects.toThrow(claim.id);
    expect(await journal.mismatches(pair)).toEqual([claim.id]);
  });

  test('and belonged together before are known from the second signature on: one answer may be faulty', async () => {
    await signAndReport(journal, workOf(9), 'app.exe');
    const first = await getMismatch(1);
    expect(await journal.mismatches(pair)).toEqual([]);
    expect(await journal.isProven(pair)).toBe(false);
    const second = await getMismatch(2);
    expect([...(await journal.mismatches(pair))].sort()).toEqual([first, second].sort());
  });

  test('belong together again once a new signature verifies', async () => {
    await getMismatch(1);
    await signAndReport(journal, workOf(2), 'app.exe');
    expect(await journal.mismatches(pair)).toEqual([]);
    expect(await journal.isProven(pair)).toBe(true);
  });

  test('may belong together again once the call is given up, also if its signature was used since', async () => {
    const id = await getMismatch(1);
    const corrected = await journal.claim(WORK, factsOf('app.exe', 'right'));
    await corrected.written('app.exe');
    expect(await journal.mismatches(pair)).toEqual([id]);
    await corrected.reported(1);
    expect(await unfinishedOf(journal)).toEqual([]);
    expect(await journal.mismatches(pair)).toEqual([id]);
    expect(await journal.forget(id)).toBe('forgotten');
    expect(await journal.mismatches(pair)).toEqual([]);
    expect(await journal.forget(id)).toBe('not-found');
  });
});

describe('a signature that is not written yet', () => {
  const later = async (): Promise<Journal> => {
    setting.ended.add(101);
    setting.clock.wall += 86_400_000;
    setting.clock.up = 50;
    return await setting.open({ self: { boot: 'second' } });
  };

  test.each(['a failed write', 'a crash'])('is known to a later run, at another path, after %s', async (what) => {
    const claim = await journal.claim(WORK, factsOf('/a/app.exe'));
    await sign(claim, 'r-1');
    if (what === 'a failed write') await claim.notWritten('no space left');
    const next = await later();
    expect(await unfinishedOf(next)).toEqual([['unwritten', claim.id]]);
    const again = await next.claim(WORK, factsOf('/b/app.exe'));
    expect(again).toMatchObject({ id: claim.id, known: { signature: SIGNATURE, record: 'r-1' } });
    expect(await again.written('/b/app.exe')).toMatchObject({ reportDue: true });
    await again.reported(1);
    expect(await unfinishedOf(next)).toEqual([]);
    expect(await historyOf(next)).toMatchObject([{ id: claim.id, filesWritten: 1, counted: 'yes', reported: 1 }]);
  });

  test.each([
    ['origin', workOf(1, { origin: 'https://other.example' })],
    ['code', workOf(1, { code: 'C-2' })],
    ['algorithm', workOf(1, { algorithm: 'SHA512' })],
    ['digest', workOf(2)],
    ['code, where origin and code only look the same', workOf(1, { origin: 'https://sign.exampl', code: 'eC-1' })],
  ])('is of no use for another %s', async (_what, other) => {
    const claim = await journal.claim(WORK, factsOf('app.exe'));
    await sign(claim);
    await claim.notWritten('no timestamp');
    expect((await journal.claim(other, factsOf('app.exe'))).known).toBeUndefined();
  });

  test('and does not verify is kept for a corrected certificate', async () => {
    const claim = await journal.claim(WORK, factsOf('app.exe', 'wrong'));
    await sign(claim);
    await claim.unusable('it does not verify');
    const next = await later();
    expect(await historyOf(next)).toMatchObject([
      { id: claim.id, outcome: 'unusable', counted: 'yes', ended: undefined },
    ]);
    const corrected = await next.claim(WORK, factsOf('app.exe', 'right'));
    expect(corrected).toMatchObject({ id: claim.id, known: { signature: SIGNATURE } });
    expect(await corrected.written('app.exe')).toMatchObject({ reportDue: true });
  });

  test('and does not verify is an error for each file with that content, until it is given up', async () => {
    const claim = await journal.claim(WORK, factsOf('app.exe', 'wrong'));
    await sign(claim);
    await claim.notWritten('no timestamp');
    for (const run of [journal, await later()]) {
      const again = run.claim(WORK, factsOf('again.exe', 'wrong'), { findMismatch });
      await expect(again).rejects.toMatchObject({ code: 'mismatch', message: claim.id });
      expect((await run.unfinished())[0]?.files).toMatchObject([{ file: 'app.exe', unusable: false }]);
    }
    expect(await journal.forget(claim.id)).toBe('forgotten');
    expect((await journal.claim(WORK, factsOf('app.exe', 'wrong'), { findMismatch })).known).toBeUndefined();
  });

  test('stays when its file is left alone, by the caller or by a participant', async () => {
    const claim = await journal.claim(WORK, factsOf('app.exe'));
    await sign(claim);
    await claim.release();
    const again = await journal.claim(WORK, factsOf('app.exe'));
    expect(again.known).toBeDefined();
    await again.release();
    expect((await journal.claim(WORK, factsOf('app.exe'))).known).toBeDefined();
    expect((await journal.unfinished())[0]?.files).toHaveLength(1);
  });
});

describe('identical files', () => {
  test('share one call: the others wait for the signature', async () => {
    const first = await journal.claim(WORK, factsOf('a'));
    const others = ['b', 'c'].map((file) => journal.claim(WORK, factsOf(file)));
    await sign(first, 'r-1');
    const [second, third] = await Promise.all(others);
    expect([second?.id, third?.id]).toEqual([first.id, first.id]);
    expect(second?.known).toEqual({ signature: SIGNATURE, record: 'r-1' });
    expect(await first.written('a')).toMatchObject({ reportDue: false });
    expect(await third?.written('c')).toMatchObject({ reportDue: false });
    expect(await second?.written('b')).toMatchObject({ reportDue: true });
    await second?.reported(1);
    expect(await historyOf(journal)).toMatchObject([{ filesWritten: 3, reported: 1 }]);
  });

  test('of which one fails are not reported, until that one is written', async () => {
    const first = await journal.claim(WORK, factsOf('a'));
    await sign(first);
    const second = await journal.claim(WORK, factsOf('b'));
    await second.notWritten('no space left');
    expect(await first.written('a')).toMatchObject({ reportDue: false });
    expect(await journal.unfinished()).toMatchObject([
      {
        kind: 'unwritten',
        files: [
          { file: 'a', written: true },
          { file: 'b', written: false, reason: 'no space left' },
        ],
      },
    ]);
    const again = await journal.claim(WORK, factsOf('b'));
    expect(await again.written('b')).toMatchObject({ reportDue: true });
  });

  test('after a crash need one signature still, each instead of its own', async () => {
    const first = await journal.claim(WORK, factsOf('a'));
    await sign(first);
    await journal.claim(WORK, factsOf('b'));
    setting.ended.add(101);
    const next = await setting.open();
    const b = await next.claim(WORK, factsOf('b'));
    expect(await b.written('b')).toMatchObject({ reportDue: false });
    const a = await next.claim(WORK, factsOf('moved/a'));
    expect(a.known).toBeDefined();
    expect(await a.written('moved/a')).toMatchObject({ reportDue: true });
  });

  test('signed one after the other, in one run or in two that overlap, use one signature', async () => {
    const overlapping = await setting.open();
    setting.clock.up += 1000;
    await signAndReport(journal, WORK, 'a');
    const second = await journal.claim(WORK, factsOf('b'));
    expect(second.known).toBeDefined();
    expect(await second.written('b')).toMatchObject({ reportDue: false });
    const third = await overlapping.claim(WORK, factsOf('c'));
    expect(third.known).toBeDefined();
    await third.notWritten('no space left');
    expect(await historyOf(journal)).toHaveLength(1);
    // What is left of the third is for a later run, which began after all this.
    setting.clock.up += 1000;
    const later = await setting.open();
    const again = await later.claim(WORK, factsOf('c'));
    expect(again.known).toBeDefined();
    expect(await again.written('c')).toMatchObject({ reportDue: false });
    expect(await unfinishedOf(later)).toEqual([]);
    expect(await historyOf(later)).toHaveLength(1);
  });

  test('share what ended while this run was already going, before it opened the journal', async () => {
    setting.clock.up += 1000;
    await signAndReport(journal, WORK, 'a');
    setting.clock.up += 10;
    expect((await (await setting.open({ runningFor: 50 })).claim(WORK, factsOf('b'))).known).toBeDefined();
  });

  test('can be waited for no longer', async () => {
    await journal.claim(WORK, factsOf('a'));
    const interruption = new AbortController();
    const waiting = journal.claim(WORK, factsOf('b'), { signal: interruption.signal });
    setTimeout(() => interruption.abort(), 20);
    await expect(waiting).rejects.toMatchObject({ code: 'claim-interrupted', category: 'local' });
  });
});

describe('several runs at the very same file', () => {
  let other: Journal;
  beforeEach(async () => {
    other = await setting.open();
  });

  const claimBoth = async (path = '/app.exe') => {
    const mine = await journal.claim(WORK, factsAt('/app.exe'));
    await sign(mine, 'r-1');
    return { mine, yours: await other.claim(WORK, factsAt(path)) };
  };

  test('leave nothing unwritten when the loser gives up first, or the place has another name for it', async () => {
    const { mine, yours } = await claimBoth('/link.exe');
    expect(await mine.notWritten('the file changed')).toMatchObject({ reportDue: false });
    expect(await yours.written('/app.exe')).toMatchObject({ reportDue: true });
    await yours.reported(1);
    expect(await unfinishedOf(journal)).toEqual([]);
  });

  test('leave nothing unwritten when the loser is killed, before or after the other has written', async () => {
    const { mine, yours } = await claimBoth();
    await yours.written('/app.exe');
    setting.ended.add(101);
    expect(await other.unfinished()).toMatchObject([{ id: mine.id, kind: 'unreported', files: [{ written: true }] }]);
    const third = await other.claim(workOf(2), factsAt('/app.exe'));
    await sign(third);
    await journal.claim(workOf(2), factsAt('/app.exe'));
    expect(await third.written('/app.exe')).toMatchObject({ reportDue: true });
  });

  test('leave nothing unwritten when the loser took part after the other had written', async () => {
    const mine = await journal.claim(WORK, factsAt('/app.exe'));
    await sign(mine, 'r-1');
    await mine.written('/app.exe');
    await mine.reported(1);
    const yours = await other.claim(WORK, factsAt('/app.exe'));
    const late = await other.claim(workOf(2), factsAt('/app.exe'));
    await sign(late);
    const later = await journal.claim(workOf(2), factsAt('/link.exe'));
    await late.written('/link.exe');
    expect(await later.notWritten('the file changed', true)).toMatchObject({ reportDue: true });
    await yours.notWritten('the file changed', true);
    await later.reported(1);
    expect(await unfinishedOf(journal)).toEqual([]);
  });

  test('do not settle a file of another place, nor one that was taken up after the place was written', async () => {
    const { mine, yours } = await claimBoth('/other.exe');
    await mine.written('/app.exe');
    const again = await journal.claim(WORK, factsAt('/app.exe'));
    expect(await again.notWritten('no timestamp')).toMatchObject({ reportDue: false });
    expect(await yours.notWritten('no timestamp')).toMatchObject({ reportDue: false });
    expect(await journal.unfinished()).toMatchObject([
      { kind: 'unwritten', files: [{ written: true }, { written: false }, { written: false }] },
    ]);
  });
});

describe('a call that was rejected', () => {
  test('is in the history as not counted, and the next to want the work asks', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    const waiting = journal.claim(WORK, factsOf('b'));
    await claim.requested();
    await claim.refused('the service rejected sign with code 400');
    const next = await waiting;
    expect(next).toMatchObject({ known: undefined, unknownCalls: [], justUnanswered: false });
    await next.release();
    expect(await unfinishedOf(journal)).toEqual([]);
    expect(await historyOf(journal)).toMatchObject([
      { id: claim.id, outcome: 'refused', counted: 'no', reason: 'the service rejected sign with code 400' },
    ]);
  });

  test('is no call when nothing was requested', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.release();
    await claim.release();
    await journal.ended();
    expect(await historyOf(journal)).toEqual([]);
    expect(await setting.files()).toEqual([]);
  });
});

describe('a call whose outcome is unknown', () => {
  test('is listed until it is forgotten, and the work is requested again, with a word of it', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    await claim.unanswered('timed out');
    expect(await journal.unfinished()).toMatchObject([{ id: claim.id, kind: 'unknown', reason: 'timed out' }]);
    setting.ended.add(101);
    const later = await setting.open();
    const again = await later.claim(WORK, factsOf('a'));
    expect(again).toMatchObject({ known: undefined, unknownCalls: [claim.id], justUnanswered: false });
    await sign(again);
    await again.written('a');
    await again.reported(1);
    expect(await unfinishedOf(later)).toEqual([['unknown', claim.id]]);
    expect(await later.forget(claim.id)).toBe('forgotten');
    expect(await later.forget(claim.id)).toBe('not-found');
    expect(await unfinishedOf(later)).toEqual([]);
    expect(await historyOf(later)).toMatchObject([
      { id: again.id, counted: 'yes' },
      { id: claim.id, outcome: 'given-up', counted: 'unknown', reason: 'timed out' },
    ]);
  });

  test('is distinguished when this very run made it', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    await claim.unanswered('timed out');
    expect((await journal.claim(WORK, factsOf('b'))).justUnanswered).toBe(true);
  });

  test('is distinguished when it was waited for', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    let waits = false;
    const onWait = (): void => {
      waits = true;
    };
    const waiting = (await setting.open()).claim(WORK, factsOf('b'), { onWait });
    await expect.poll(() => waits).toBe(true);
    await claim.unanswered('timed out');
    expect(await waiting).toMatchObject({ known: undefined, unknownCalls: [claim.id], justUnanswered: true });
  });

  test('is closed once where the one who waits reads it before it is flushed', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    const onWait = vi.fn();
    const waiting = (await setting.open()).claim(WORK, factsOf('b'), { onWait });
    await expect.poll(() => onWait.mock.calls.length).toBe(1);
    const linesOf = async (folder: string): Promise<string> => {
      const names = (await setting.files()).filter((file) => file.startsWith(`${folder}/`));
      return names.map((name) => readFileSync(join(setting.folder, name), 'utf8')).join('');
    };
    const { fdatasync } = fs;
    const restore = (): void => {
      fs.fdatasync = fdatasync;
      syncBuiltinESMExports();
    };
    const slowly = (_fd: number, done: (failure: NodeJS.ErrnoException | null) => void): void => {
      restore();
      waiting.then(() => done(null), done);
    };
    fs.fdatasync = Object.assign(slowly, { __promisify__: fdatasync.__promisify__ });
    syncBuiltinESMExports();
    try {
      await claim.unanswered('timed out');
    } finally {
      restore();
    }
    expect(await waiting).toMatchObject({ unknownCalls: [claim.id], justUnanswered: true });
    expect((await linesOf('aside')).match(/"closing"/g)).toHaveLength(1);
    expect(await linesOf('calls')).not.toContain('"closing"');
  });

  test('is what a process leaves that ends after its request', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    expect(await unfinishedOf(journal)).toEqual([['under-way', claim.id]]);
    expect(await journal.forget(claim.id)).toBe('under-way');
    setting.ended.add(101);
    const later = await setting.open();
    expect(await unfinishedOf(later)).toEqual([['unknown', claim.id]]);
    expect(await historyOf(later)).toMatchObject([{ id: claim.id, outcome: 'unknown', counted: 'unknown' }]);
    expect((await later.claim(WORK, factsOf('a'))).unknownCalls).toEqual([claim.id]);
  });

  test('is not unknown if the process ended before its request', async () => {
    await journal.claim(WORK, factsOf('a'));
    setting.ended.add(101);
    const later = await setting.open();
    expect(await unfinishedOf(later)).toEqual([]);
    expect((await setting.files()).filter((file) => !file.startsWith('running/'))).toEqual([]);
    expect((await later.claim(WORK, factsOf('a'))).unknownCalls).toEqual([]);
  });
});

describe('a report that did not arrive', () => {
  test('is pending until it is reported, and the work is requested again during that time', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await sign(claim, 'r-1');
    await claim.written('a');
    await journal.ended();
    setting.clock.up += 1;
    const later = await setting.open();
    expect(await later.unfinished()).toMatchObject([{ id: claim.id, kind: 'unreported', record: 'r-1', work: WORK }]);
    const again = await later.claim(WORK, factsOf('a'));
    expect(again.known).toBeUndefined();
    await again.release();
    expect(await later.reported(claim.id, 1)).toBe(true);
    expect(await later.reported(claim.id, 1)).toBe(false);
    expect(await historyOf(later)).toMatchObject([{ id: claim.id, reported: 1, outcome: 'written' }]);
  });

  test('of a signature given up says 2', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await sign(claim);
    await claim.notWritten('no timestamp');
    expect(await journal.forget(claim.id, 2)).toBe('forgotten');
    expect(await historyOf(journal)).toMatchObject([
      { outcome: 'given-up', counted: 'yes', reported: 2, reason: 'no timestamp', filesWritten: 0 },
    ]);
    expect((await journal.claim(WORK, factsOf('a'))).known).toBeUndefined();
  });
});
