import { claimedCall, knownCall, notRecorded } from './calls.ts';
import { giveUp, handOver, noteReport } from './claimant.ts';
import { sessionOf } from './commits.ts';
import type { Database } from './driver.ts';
import { inJournal, journalWarnings } from './errors.ts';
import type { Journal } from './journal.ts';
import { listingOf, optionsOfKnown, repeatableCalls, unfinishedCalls } from './listing.ts';
import * as runs from './runs.ts';
import { UNFINISHED_STATES } from './schema.ts';

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
const UNFINISHED_CALL = `select id from calls where name = ? and state in ${UNFINISHED_STATES}`;
/** Frees unused pages and empties the log. A libsql connection would leave the log for the next run to read. */
const TIDY = 'pragma incremental_vacuum(64); pragma wal_checkpoint(truncate); pragma busy_timeout = 1000';

export interface JournalOptions extends Omit<runs.Observer, 'db' | 'isShared'> {
  /** Must never return the same text twice. */
  readonly randomId: () => string;
  /** Days for which ended calls are kept. */
  readonly keepDays: number;
  /** Milliseconds since this run began. It can use signatures that other processes have made since then. */
  readonly runningFor: number;
  /** Milliseconds for which a file waits for another process that makes no progress. */
  readonly patience: number;
  readonly openDatabase?: ((path: string) => Database) | undefined;
  readonly isOnSharedDisk?: ((folder: string) => boolean) | undefined;
}

export function journalOfRun(
  run: runs.Run,
  token: string,
  { randomId, keepDays, ...options }: JournalOptions,
): Journal {
  const { db, folder } = run;
  // Longer than the time after which a run whose process is not visible is presumed gone.
  const patience = Math.max(options.patience, runs.WATCHED_MILLISECONDS + 20_000);
  const session = sessionOf(run);
  const { warnings, warn, enter, hasFailed, unrecorded } = session;
  const beat = setInterval(() => {
    enter('look', () => runs.giveSignOfLife(run)).catch(() => undefined);
  }, runs.SIGN_OF_LIFE_MILLISECONDS);
  beat.unref();

  function idOf(name: string): number | undefined {
    const row = db.get(UNFINISHED_CALL, name);
    return row && Number(row.id);
  }

  function end(): void {
    if (hasFailed()) return;
    runs.endRun(db, run.id);
    handOver(run);
    runs.removeOld(run, run.now().getTime() - keepDays * DAY_MILLISECONDS);
  }

  return {
    warnings,
    known: (asking, waiting = {}) => knownCall(session, asking, waiting, patience),
    claim: async (asking) => await claimedCall(session, asking, randomId()),
    knownFor: async (work) => inJournal(folder, () => optionsOfKnown(run, work)),
    repeatable: async () => inJournal(folder, () => repeatableCalls(run)),
    ...listingOf(run),
    async reported(name, status) {
      return await enter('now', () => {
        const id = idOf(name);
        if (id !== undefined) noteReport(run, id, status);
        return id !== undefined;
      });
    },
    async forget(name, report) {
      return await enter('now', () => {
        const hadMark = db.run('delete from proven where call = ? and matches = 0', name) > 0;
        const [call] = unfinishedCalls(run, name);
        const id = idOf(name);
        if (id === undefined || call === undefined) return hadMark ? 'forgotten' : 'not-found';
        if (call.kind === 'under-way') return 'under-way';
        giveUp(run, id, report);
        return 'forgotten';
      });
    },
    async close() {
      clearInterval(beat);
      // The first commit tries again to write the entries that could not be committed before.
      await enter('now', () => undefined).catch(() => undefined);
      await enter('now', end).catch((thrown) => warn(notRecorded(thrown)));
      for (const { id, file, known, reason } of hasFailed() ? unrecorded.values() : []) {
        warn(journalWarnings('signature-not-recorded', { id, file, record: known.record ?? '-', reason }));
      }
      runs.forgetToken(token);
    },
    ended(isWell = true) {
      try {
        db.exec(TIDY);
      } catch {
        // A later run can do this work.
      }
      try {
        if (isWell) db.run('update runs set well = 1 where id = ? and ended is not null', run.id);
        db.close();
      } catch {
        // It is harmless if the success of a run is not recorded.
      }
    },
  };
}
