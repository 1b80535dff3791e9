import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase, rollBack } from './driver.ts';
import { asJournalError, hasSqliteCode, inJournal, refusal } from './errors.ts';
import type { Journal, JournalReading } from './journal.ts';
import { listingOf } from './listing.ts';
import * as place from './place.ts';
import { type JournalOptions, journalOfRun } from './run-journal.ts';
import { beginRun, forgetToken, type Run } from './runs.ts';
import { PAGE_SIZE, SCHEMA, VERSION } from './schema.ts';

const LONGEST_OPENING_MILLISECONDS = 10_000;
const PAUSE_MILLISECONDS = 10;

export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { folder, isOnSharedDisk = place.isOnNetwork } = options;
  const token = options.randomId();
  let run: Run | undefined;
  try {
    await place.preparePlace(folder);
    run = await openRun({ ...options, isShared: isOnSharedDisk(folder) }, token);
    place.keepSpace(folder);
    return journalOfRun(run, token, options);
  } catch (thrown) {
    forgetToken(token);
    if (run !== undefined) discard(run.db);
    throw asJournalError(thrown, folder);
  }
}

type Opening = JournalOptions & { readonly isShared: boolean };

async function openRun(opening: Opening, token: string): Promise<Run> {
  const { folder, uptime, openDatabase: open = openDatabase } = opening;
  const began = uptime();
  for (;;) {
    const db = open(place.databaseIn(folder));
    try {
      return beginIn(db, opening, token);
    } catch (thrown) {
      discard(db);
      if (!hasSqliteCode(thrown, 'BUSY') || uptime() - began > LONGEST_OPENING_MILLISECONDS) throw thrown;
    }
    await sleep(PAUSE_MILLISECONDS * (1 + Math.random()));
  }
}

/** libsql keeps the locks of a connection as long as one of its statements exists. */
function discard(db: Database): void {
  rollBack(db);
  db.close();
}

function beginIn(db: Database, { isShared, ...options }: Opening, token: string): Run {
  const database = place.databaseIn(options.folder);
  db.exec(isShared ? 'pragma busy_timeout = 2000' : 'pragma busy_timeout = 0');
  if (isShared) rejectLog(db, database);
  db.exec(`pragma page_size = ${PAGE_SIZE}; pragma auto_vacuum = incremental; pragma foreign_keys = on;
    pragma wal_autocheckpoint = 250; pragma fullfsync = on; pragma checkpoint_fullfsync = on`);
  const mode = isShared ? 'truncate' : 'wal';
  const given = db.get(isShared ? 'pragma journal_mode = truncate' : 'pragma journal_mode = wal')?.journal_mode;
  if (given !== mode) throw refusal(database, `cannot be kept here: SQLite uses its mode ${given} in place of ${mode}`);
  db.exec('begin immediate');
  if (versionOf(db, database) === 0) db.exec(SCHEMA);
  const run = beginRun({ ...options, db, isShared }, token, options.now().getTime() - options.runningFor);
  db.exec('commit');
  return run;
}

/** A log needs memory that all processes share, unless the database is locked exclusively. */
function rejectLog(db: Database, database: string): void {
  db.exec('pragma locking_mode = exclusive');
  const isLogged = db.get('pragma journal_mode')?.journal_mode === 'wal';
  db.exec('pragma locking_mode = normal');
  if (!isLogged) return;
  throw refusal(database, 'was made on a local disk, and cannot be used on a network drive: move it back');
}

function versionOf(db: Database, database: string): number {
  const version = Number(db.get('pragma user_version')?.user_version);
  if (version > VERSION) throw refusal(database, 'was made by a later version of this program');
  if (version === 0 && db.get('select 1 from sqlite_schema') !== undefined) throw refusal(database, 'is no journal');
  return version;
}

/** Changes nothing. A missing folder is treated as a journal without calls. */
export async function readJournal(options: JournalOptions): Promise<JournalReading> {
  const { folder, openDatabase: open = openDatabase } = options;
  const db = inJournal(folder, () => openToRead(folder, open));
  const listing = db ? listingOf({ ...options, db }) : { unfinished: async () => [], async *history() {} };
  return { warnings: [], ...listing, [Symbol.dispose]: () => db?.close() };
}

function openToRead(folder: string, open: typeof openDatabase): Database | undefined {
  if (!existsSync(folder)) return undefined;
  place.assertOwnLinks(folder);
  place.checkPlace(folder);
  const database = place.databaseIn(folder);
  if (place.isMissing(database)) return undefined;
  try {
    return unlessEmpty(open(database), database);
  } catch (thrown) {
    if (!hasSqliteCode(thrown, 'CANTOPEN', 'READONLY')) throw thrown;
  }
  // If the current user cannot write to the folder, SQLite cannot create the file that processes use together.
  const copies = mkdtempSync(join(tmpdir(), 'codesign-remote-'));
  const copy = join(copies, 'journal.db');
  let db: Database | undefined;
  const close = (): void => {
    db?.close();
    rmSync(copies, { recursive: true, force: true });
  };
  try {
    for (const end of ['', '-wal']) if (!place.isMissing(database + end)) copyFileSync(database + end, copy + end);
    db = unlessEmpty(open(copy), database);
  } finally {
    if (db === undefined) close();
  }
  return db && { ...db, close };
}

/** A database is empty if the process that created it ended before it made the tables. */
function unlessEmpty(db: Database, database: string): Database | undefined {
  let isEmpty = true;
  try {
    db.exec('pragma busy_timeout = 5000; pragma query_only = on');
    isEmpty = versionOf(db, database) === 0;
  } finally {
    if (isEmpty) db.close();
  }
  return isEmpty ? undefined : db;
}
