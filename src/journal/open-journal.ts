import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { claimOf, knownCall, notRecorded } from './calls.ts';
import { claimWork, endCalls, forget, noteReport } from './claimant.ts';
import { sessionOf } from './commits.ts';
import { type Database, openDatabase, rollBack } from './driver.ts';
import { asJournalError, hasSqliteCode, inJournal, journalWarnings, refusal } from './errors.ts';
import type { Journal, JournalReading } from './journal.ts';
import { listingOf, optionsOfKnown, repeatableCalls, unfinishedCalls } from './listing.ts';
import * as place from './place.ts';
import * as runs from './runs.ts';
import { PAGE_SIZE, SCHEMA, UNFINISHED, VERSION } from './schema.ts';

const LONGEST_OPENING_MILLISECONDS = 10_000;
const PAUSE_MILLISECONDS = 10;
/** Frees unused pages and empties the log. A libsql connection would leave the log for the next run to read. */
const TIDY = 'pragma incremental_vacuum(64); pragma wal_checkpoint(truncate); pragma busy_timeout = 1000';

export interface JournalOptions extends Omit<runs.Observer, 'db'> {
  /** The function must never return the same text twice. */
  readonly randomId: () => string;
  /** Days for which ended calls are kept. */
  readonly keepDays: number;
  /** Milliseconds since this run began. The run can use signatures that other processes have made since then. */
  readonly runningFor: number;
  /** Milliseconds for which a file waits for another process that makes no progress. */
  readonly patience: number;
  readonly openDatabase?: ((path: string) => Database) | undefined;
}

export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { folder } = options;
  try {
    await place.preparePlace(folder);
    return journalOfRun(await openRun(options), options);
  } catch (thrown) {
    throw asJournalError(thrown, folder);
  }
}

async function openRun(options: JournalOptions): Promise<runs.Run> {
  const { folder, now, uptime, openDatabase: open = openDatabase } = options;
  const database = place.databaseIn(folder);
  for (const began = uptime(); ; ) {
    const db = open(database);
    try {
      db.exec(`pragma busy_timeout = 0; pragma page_size = ${PAGE_SIZE}; pragma auto_vacuum = incremental;
        pragma foreign_keys = on; pragma wal_autocheckpoint = 250; pragma fullfsync = on; pragma checkpoint_fullfsync = on`);
      const mode = db.get('pragma journal_mode = wal')?.journal_mode;
      if (mode !== 'wal') throw refusal(database, `cannot be kept here: SQLite uses its mode ${mode} in place of wal`);
      db.exec('begin immediate');
      if (versionOf(db, database) === 0) db.exec(SCHEMA);
      const run = runs.beginRun({ ...options, db }, now().getTime() - options.runningFor);
      db.exec('commit');
      place.keepSpace(folder);
      return run;
    } catch (thrown) {
      // libsql keeps the locks of a connection as long as one of its statements exists.
      rollBack(db);
      db.close();
      if (!hasSqliteCode(thrown, 'BUSY') || uptime() - began > LONGEST_OPENING_MILLISECONDS) throw thrown;
    }
    await sleep(PAUSE_MILLISECONDS * (1 + Math.random()));
  }
}

function versionOf(db: Database, database: string): number {
  const version = Number(db.get('pragma user_version')?.user_version);
  if (version > VERSION) throw refusal(database, 'was made by a later version of this program');
  if (version === 0 && db.get('select 1 from sqlite_schema') !== undefined) throw refusal(database, 'is no journal');
  return version;
}

function journalOfRun(run: runs.Run, { randomId, keepDays, ...options }: JournalOptions): Journal {
  const { db, folder } = run;
  // This time is longer than the time after which a run whose process is not visible is presumed gone.
  const patience = Math.max(options.patience, runs.WATCHED_MILLISECONDS + 20_000);
  const session = sessionOf(run);
  const { warnings, warn, enter } = session;
  const giveSign = () => enter('soon', () => runs.giveSignOfLife(run)).catch(() => undefined);
  const beat = setInterval(giveSign, runs.SIGN_OF_LIFE_MILLISECONDS).unref();
  const idOf = (name: string): number | undefined => {
    const row = db.get(`select id from calls where name = ? and ${UNFINISHED}`, name);
    return row && Number(row.id);
  };

  return {
    warnings,
    known: (request, waiting = {}) => knownCall(session, request, waiting, patience),
    async claim(request) {
      session.assertUsable();
      const claimed = await enter('soon', () => claimWork(run, request, randomId()));
      return claimed && claimOf(session, claimed);
    },
    knownFor: async (work) => inJournal(folder, () => optionsOfKnown(run, work)),
    repeatable: async () => inJournal(folder, () => repeatableCalls(run)),
    ...listingOf(run),
    reported: (name, status) =>
      enter('now', () => {
        const id = idOf(name);
        if (id !== undefined) noteReport(run, id, status);
        return id !== undefined;
      }),
    forget: (name, report) =>
      enter('now', () => {
        const hadMark = db.run('delete from proven where call = ? and matches = 0', name) > 0;
        const [call] = unfinishedCalls(run, name);
        const id = idOf(name);
        if (id === undefined || call === undefined) return hadMark ? 'forgotten' : 'not-found';
        if (call.kind === 'under-way') return 'under-way';
        forget(run, id, report);
        return 'forgotten';
      }),
    async close() {
      clearInterval(beat);
      // The first commit tries again to write the entries that could not be committed before.
      await enter('now', () => undefined).catch(() => undefined);
      const ending = enter('now', () => {
        runs.endRun(db, run.id);
        endCalls(run);
        runs.removeOld(run, keepDays);
      });
      await ending.catch((thrown) => warn(notRecorded(thrown)));
      for (const { name: id, metadata, given, reason } of session.allUnrecorded()) {
        warn(
          journalWarnings('signature-not-recorded', { id, file: metadata.file, record: given.record ?? '-', reason }),
        );
      }
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

/** Changes nothing. A missing folder is treated as a journal without calls. */
export async function readJournal(options: JournalOptions): Promise<JournalReading> {
  const { folder, openDatabase: open = openDatabase } = options;
  const db = inJournal(folder, () => openToRead(folder, open));
  const listing = db ? listingOf({ ...options, db }) : { unfinished: async () => [], async *history() {} };
  return { warnings: [], ...listing, [Symbol.dispose]: () => db?.close() };
}

function openToRead(folder: string, open: typeof openDatabase): Database | undefined {
  const database = place.databaseIn(folder);
  if (!existsSync(folder)) return undefined;
  place.assertOwnLinks(folder);
  place.checkPlace(folder);
  if (place.isMissing(database)) return undefined;
  const db = open(database);
  let isEmpty = true;
  try {
    db.exec('pragma busy_timeout = 5000; pragma query_only = on');
    // The process that created the database may have ended before it made the tables.
    isEmpty = versionOf(db, database) === 0;
  } finally {
    if (isEmpty) db.close();
  }
  return isEmpty ? undefined : db;
}
