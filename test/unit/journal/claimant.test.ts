/** What a claimant does, row by row of the table in the README of the journal, and what a kill leaves. */

import { beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../../../src/journal/journal.ts';
import { forEach } from '../../support/set-up.ts';
import {
  askingOf,
  claimOf,
  end,
  FIRST,
  factsAt,
  GIVEN,
  historyOf,
  journalSetting,
  obtain,
  requestedClaim,
  SIGNATURE,
  sign,
  signAndReport,
  signedClaim,
  unansweredClaim,
  unfinishedOf,
  unusableClaim,
} from './support/setting.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const setting = forEach(journalSetting);
let journal: Journal;
beforeEach(async () => {
  journal = await setting.open();
});

const known = { known: { signature: SIGNATURE } };

/** Of a run whose certificate does not belong to the number. */
const wrong = (number: number) =>
  askingOf(number, { ...factsAt(`/${number}`), certificate: { name: 'Wrong', sha256: 'bb' } });
const renewed = wrong(1);

describe('with a closed call', () => {
  test('that was closed after this run began, a file shares it', async () => {
    const other = await setting.open();
    const first = await signAndReport(journal, askingOf(1));
    await end(journal);
    expect(await other.known(askingOf(1, factsAt('/b')))).toMatchObject({ id: first.id, ...known });
    expect(setting.stateOf(first)).toBe('signed');
    // Nothing is requested by who had decided to claim it before.
    expect(await other.claim(askingOf(1, factsAt('/c')))).toBeUndefined();
  });

  test('that was closed while this run was being loaded, a file shares it', async () => {
    await signAndReport(journal, askingOf(1));
    await end(journal);
    setting.clock.wall += 400;
    expect(await (await setting.open({ runningFor: 500 })).known(askingOf(1))).toMatchObject(known);
    await signAndReport(await setting.open(), askingOf(2));
    expect(await (await setting.open({ runningFor: 100 })).known(askingOf(1))).toMatchObject(known);
  });

  test.each([
    ['a second', 1000],
    ['six days', 6 * DAY],
    ['minus an hour, by a clock that was set back', -HOUR],
    ['minus a month, by a clock that was set back', -31 * DAY],
  ])('of a run that did not come to a good end, a file shares it after %s', async (_when, milliseconds) => {
    const first = await signAndReport(journal, askingOf(1));
    setting.ended.add(FIRST);
    setting.clock.wall += milliseconds;
    const later = await setting.open({ self: { boot: 'second' } });
    const again = await later.known(askingOf(1));
    expect(again).toMatchObject({ id: first.id, ...known });
    expect(await again?.written()).toMatchObject({ reportDue: undefined, reported: 1 });
    await end(later);
    const last = await setting.open();
    expect(await unfinishedOf(last)).toEqual([]);
    expect((await historyOf(last)).map(({ id }) => id)).toEqual([first.id]);
    // A second run came to its end, so a file claims the work again.
    expect(await last.known(askingOf(1))).toBeUndefined();
  });

  test('of a run that did not succeed, a file claims the work again after a week', async () => {
    await signAndReport(journal, askingOf(1));
    await journal.close();
    setting.clock.wall += 8 * DAY;
    expect(await (await setting.open()).known(askingOf(1))).toBeUndefined();
  });

  test('stays open as long as a file waits: another file shares it, at any age', async () => {
    const claim = await signedClaim(journal, askingOf(1));
    const other = await setting.open();
    await (await other.known(askingOf(1, factsAt('/b'))))?.written();
    await claim.notWritten('the disk was full');
    await claim.reported(1);
    await end(journal);
    await end(other);
    setting.clock.wall += 400 * DAY;
    const later = await setting.open();
    expect(await unfinishedOf(later)).toEqual([['unwritten', claim.id]]);
    expect(await later.known(askingOf(1, factsAt('/c')))).toMatchObject(known);
  });

  test('whose signature does not verify any more, a file claims the work again', async () => {
    const other = await setting.open();
    await signAndReport(journal, askingOf(1));
    expect(await other.known(renewed)).toBeUndefined();
    expect(await other.claim(renewed)).toBeDefined();
  });
});

describe('with a call of a live run', () => {
  test.each(['claimed', 'requested'])('that is %s, a file waits, and shares the signature', async (state) => {
    const claim = await claimOf(journal, askingOf(1));
    if (state === 'requested') await claim.requested();
    const other = await setting.open();
    const waited: string[] = [];
    const waiting = other.known(askingOf(1, factsAt('/b')), { onWait: (whom) => waited.push(whom) });
    expect(await other.claim(askingOf(1, factsAt('/c')))).toBeUndefined();
    if (state === 'claimed') await claim.requested();
    await claim.signed(GIVEN);
    expect(await waiting).toMatchObject({ id: claim.id, known: GIVEN });
    expect(waited).toEqual([`process ${FIRST}`]);
  });

  test('that is released, a file that waited claims the work', async () => {
    const claim = await claimOf(journal, askingOf(1));
    const waiting = journal.known(askingOf(1, factsAt('/b')));
    await claim.release();
    expect(await waiting).toBeUndefined();
    expect(await historyOf(journal)).toEqual([]);
  });

  test('that makes no progress, a file fails, and nothing is taken over', async () => {
    const claim = await requestedClaim(journal, askingOf(1));
    let time = 0;
    const other = await setting.open({ patience: 60_000, uptime: () => (time += 10_000) });
    const message = expect.stringMatching(/^process 101 is requesting the same signature/);
    await expect(other.known(askingOf(1))).rejects.toMatchObject({ code: 'work-held', message });
    await claim.signed(GIVEN);
    expect(setting.stateOf(claim)).toBe('signed');
  });

  test('the wait of a file can be aborted', async () => {
    await claimOf(journal, askingOf(1));
    const waiting = (await setting.open()).known(askingOf(1), { signal: AbortSignal.timeout(20) });
    await expect(waiting).rejects.toMatchObject({ code: 'claim-interrupted' });
  });
});

describe('with a call of a dead run', () => {
  test('that is claimed, a file claims the work: nothing was sent', async () => {
    const claim = await claimOf(journal, askingOf(1));
    const later = await setting.openAfterKill();
    expect(await unfinishedOf(later)).toEqual([]);
    const second = await claimOf(later, askingOf(1, factsAt('/b')));
    expect(second.unknownCalls).toEqual([]);
    await sign(second);
    // The run that was taken for gone makes no request any more.
    await expect(claim.requested()).rejects.toMatchObject({ code: 'claim-lost' });
    expect((await later.unfinished())[0]?.files).toMatchObject([{ file: '/b' }]);
  });

  test('that is requested, it is unknown: a file warns and claims the work', async () => {
    const claim = await requestedClaim(journal, askingOf(1));
    const later = await setting.openAfterKill();
    expect(await unfinishedOf(later)).toEqual([['unknown', claim.id]]);
    const second = await claimOf(later, askingOf(1));
    expect(second.unknownCalls).toEqual([claim.id]);
    await sign(second);
    await end(later);
    const last = await setting.open();
    expect(await unfinishedOf(last)).toContainEqual(['unknown', claim.id]);
    expect(await last.forget(claim.id)).toBe('forgotten');
    expect((await historyOf(last)).map(({ outcome, counted }) => [outcome, counted])).toEqual([
      ['given-up', 'unknown'],
      ['unwritten', 'yes'],
    ]);
  });

  test('that waits to repeat a request which made no signature, a file claims the work', async () => {
    const claim = await requestedClaim(journal, askingOf(1));
    await claim.deferred();
    expect((await claimOf(await setting.openAfterKill(), askingOf(1))).unknownCalls).toEqual([]);
  });

  test('that is claimed after one without an answer, a file warns of that one', async () => {
    const first = await unansweredClaim(journal, askingOf(1));
    await end(journal);
    const second = await setting.open();
    expect((await claimOf(second, askingOf(1))).unknownCalls).toEqual([first.id]);
    setting.ended.add(FIRST + 1);
    const third = await setting.open();
    expect((await claimOf(third, askingOf(1))).unknownCalls).toEqual([first.id]);
  });

  test.each(['release', 'deferred', 'refused'] as const)(
    'that was repeated, and then %s: it is unknown, but not before',
    async (how) => {
      const claim = await requestedClaim(journal, askingOf(1));
      await claim.requested(true);
      expect(setting.rows('select state, repeated from calls')).toMatchObject([{ state: 'requested', repeated: 1 }]);
      await claim[how]('why');
      await end(journal);
      const later = await setting.openAfterKill();
      expect(await unfinishedOf(later)).toEqual([['unknown', claim.id]]);
      expect((await claimOf(later, askingOf(1))).unknownCalls).toEqual([claim.id]);
    },
  );

  test('that is signed, a file shares it, and its run reports it', async () => {
    const claim = await signedClaim(journal, askingOf(1));
    const later = await setting.openAfterKill();
    expect(await unfinishedOf(later)).toEqual([['unwritten', claim.id]]);
    const shared = await later.known(askingOf(1));
    expect(await shared?.written()).toEqual({ reportDue: 1, reported: undefined });
    await shared?.reported(1);
    expect(setting.stateOf(claim)).toBe('closed');
  });

  test.each(['is only to be reported', 'is written to one of two files'])(
    'and %s, a file with a renewed certificate claims the work',
    async (how) => {
      const claim = await signedClaim(journal, askingOf(1));
      if (how === 'is only to be reported') await claim.written();
      else {
        await (await journal.known(askingOf(1, factsAt('/b'))))?.written();
        await expect(journal.known(renewed)).rejects.toMatchObject({ calls: [claim.id] });
      }
      const later = await setting.openAfterKill();
      expect((await claimOf(later, renewed)).unknownCalls).toEqual([]);
      expect(await unfinishedOf(later)).toContainEqual(['unreported', claim.id]);
    },
  );
});

describe('with a call whose outcome is unknown', () => {
  test('that was settled before this run began, a file warns and claims the work', async () => {
    const claim = await requestedClaim(journal, askingOf(1));
    await claim.unanswered('the connection broke');
    await journal.close();
    const later = await setting.open();
    expect((await later.unfinished())[0]).toMatchObject({ kind: 'unknown', reason: 'the connection broke' });
    expect((await claimOf(later, askingOf(1))).unknownCalls).toEqual([claim.id]);
  });

  test('that was settled after this run began, whoever made it, a file fails', async () => {
    const other = await setting.open();
    const claim = await requestedClaim(journal, askingOf(1));
    const code = 'just-unanswered';
    const waiting = expect(other.known(askingOf(1))).rejects.toMatchObject({ code, category: 'network' });
    await claim.unanswered('no answer');
    await waiting;
    await expect(journal.known(askingOf(1))).rejects.toMatchObject({ code });
    expect(await journal.claim(askingOf(1))).toBeUndefined();
  });
});

describe('with a signature', () => {
  test('a file shares it, in the same run and in another', async () => {
    const claim = await signedClaim(journal, askingOf(1));
    expect(await journal.known(askingOf(1, factsAt('/b')))).toMatchObject({ id: claim.id, ...known });
    expect(await (await setting.open()).known(askingOf(1, factsAt('/c')))).toMatchObject({ id: claim.id, ...known });
    expect(await journal.knownFor(askingOf(1).work)).toMatchObject([{ path: '/1' }, { path: '/b' }, { path: '/c' }]);
  });

  test('that does not verify, a file fails before any request, until the call is forgotten', async () => {
    const claim = await signedClaim(journal, askingOf(1));
    await expect(journal.known(wrong(1))).rejects.toMatchObject({ calls: [claim.id] });
    expect(await journal.claim(wrong(1))).toBeUndefined();
    await claim.notWritten('no');
    await journal.close();
    const later = await setting.open();
    expect(await later.forget(claim.id)).toBe('forgotten');
    expect(await claimOf(later, wrong(1))).toBeDefined();
  });

  test('that is unusable marks the triple: no file of it makes a request, until the call is forgotten', async () => {
    const claim = await unusableClaim(journal, wrong(1));
    expect(setting.rows('select due, reported from calls')).toMatchObject([{ due: 2, reported: null }]);
    expect(await journal.claim(wrong(2))).toBeUndefined();
    await claim.reported(2);
    await journal.close();
    const later = await setting.open();
    expect((await later.unfinished())[0]).toMatchObject({ kind: 'unwritten', files: [{ unusable: true }] });
    await expect(later.known(wrong(2))).rejects.toMatchObject({ calls: [claim.id] });
    expect(await later.forget(claim.id)).toBe('forgotten');
    expect(await claimOf(later, wrong(2))).toBeDefined();
  });

  test('that is unusable is used with the right certificate, and is reported again', async () => {
    const claim = await unusableClaim(journal, wrong(1));
    await claim.reported(2);
    await journal.close();
    const later = await setting.open();
    const shared = await later.known(askingOf(1));
    expect(shared).toMatchObject({ id: claim.id, ...known });
    expect(await shared?.written()).toEqual({ reportDue: 1, reported: 2 });
    await shared?.reported(1);
    expect((await historyOf(later))[0]).toMatchObject({ outcome: 'written', reported: 1, filesWritten: 1 });
  });

  test('of a triple that matched once, a faulty one does not mark it', async () => {
    await signAndReport(journal, askingOf(1));
    await unusableClaim(journal, askingOf(2));
    expect(await obtain(journal, askingOf(3))).toBeDefined();
  });

  test('that the service refused, a file claims the work', async () => {
    const claim = await requestedClaim(journal, askingOf(1));
    await claim.refused('the quota is used up');
    const expected = { outcome: 'refused', counted: 'no', reason: 'the quota is used up' };
    expect(await historyOf(journal)).toMatchObject([expected]);
    expect(await claimOf(journal, askingOf(1))).toBeDefined();
  });

  test('that is surplus is used before a younger call whose outcome is unknown', async () => {
    const claim = await requestedClaim(journal, askingOf(1));
    const later = await setting.openAfterKill();
    const second = await requestedClaim(later, askingOf(1));
    expect(await claim.signed(GIVEN)).toBe('surplus');
    await second.unanswered('no answer');
    const shared = await later.known(askingOf(1));
    expect(shared).toMatchObject({ id: claim.id, ...known });
    expect(await shared?.written()).toMatchObject({ reportDue: 1 });
  });

  test('that showed a mismatch keeps claims that were made before it from being requested', async () => {
    const [first, second] = [await claimOf(journal, wrong(1)), await claimOf(journal, wrong(2))];
    await first.requested();
    await first.unusable(GIVEN, 'it does not verify');
    await expect(second.requested()).rejects.toMatchObject({ calls: [first.id] });
  });
});
