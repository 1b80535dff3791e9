import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from './driver.ts';
import { asJournalError, refusal } from './errors.ts';
import type { Journal, JournalReading } from './journal.ts';
import { historyOf, unfinishedCalls } from './listing.ts';
import {
  assertOwnLinks,
  checkPlace,
  checkShared,
  isMissing,
  keepSpace,
  type Place,
  placeIn,
  preparePlace,
} from './place.ts';
import { type JournalOptions, journalOfRun } from './run-journal.ts';
import { beginRun, forgetToken, hasRunIn, type Run } from './runs.ts';
import { PAGE_SIZE, SCHEMA, VERSION } from './schema.ts';
import { hasSqliteCode } from './sqlite-codes.ts';

/** For a process that creates the database. */
const LONGEST_OPENING_MILLISECONDS = 10_000;
const PAUSE_MILLISECONDS = 10;

/** Throws `journal-unusable`, `journal-full`, `journal-damaged`, `journal-of-earlier-build`, `journal-needs-node-22`. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { folder } = options;
  let opened: OpenedRun | undefined;
  try {
    const place = await preparePlace(folder, options.isOnSharedDisk);
    if (!hasRunIn(folder)) checkShared(place);
    opened = await openRun(place, options);
    keepSpace(folder);
    return journalOfRun({ ...opened, place, options });
  } catch (thrown) {
    if (opened !== undefined) {
      forgetToken(opened.token);
      discard(opened.db);
    }
    throw asJournalError(thrown, folder);
  }
}

interface OpenedRun {
  readonly db: Database;
  readonly run: Run;
  readonly token: string;
}

async function openRun(place: Place, options: JournalOptions): Promise<OpenedRun> {
  const began = options.uptime();
  for (;;) {
    const db = (options.openDatabase ?? openDatabase)(place.database);
    try {
      return beginIn(db, place, options);
    } catch (thrown) {
      discard(db);
      if (!hasSqliteCode(thrown, 'BUSY') || options.uptime() - began > LONGEST_OPENING_MILLISECONDS) throw thrown;
    }
    await sleep(PAUSE_MILLISECONDS * (1 + Math.random()));
  }
}

/** A connection of libsql keeps its locks as long as a statement is left. */
function discard(db: Database): void {
  try {
    db.exec('rollback');
  } catch {
    // No transaction is active.
  }
  db.close();
}

function beginIn(db: Database, { database, isShared }: Place, options: JournalOptions): OpenedRun {
  db.exec(isShared ? 'pragma busy_timeout = 2000' : 'pragma busy_timeout = 0');
  db.exec(`pragma page_size = ${PAGE_SIZE}; pragma auto_vacuum = incremental; pragma foreign_keys = on;
    pragma wal_autocheckpoint = 250; pragma fullfsync = on; pragma checkpoint_fullfsync = on`);
  const mode = isShared ? 'truncate' : 'wal';
  const given = db.get(isShared ? 'pragma journal_mode = truncate' : 'pragma journal_mode = wal')?.journal_mode;
  if (given !== mode) throw refusal(database, `cannot be kept here: SQLite uses its mode ${given} in place of ${mode}`);
  db.exec('begin immediate');
  if (versionOf(db, database) === 0) db.exec(SCHEMA);
  const token = options.randomId();
  const run = beginRun(db, token, options.now().getTime() - options.runningFor, { ...options, isShared });
  db.exec('commit');
  return { db, run, token };
}

function versionOf(db: Database, database: string): number {
  const version = Number(db.get('pragma user_version')?.user_version);
  if (version > VERSION) throw refusal(database, 'was made by a later version of this program');
  if (version === 0 && db.get('select 1 from sqlite_schema') !== undefined) throw refusal(database, 'is no journal');
  return version;
}

/** Changes nothing. A folder that is not there is a journal without calls. */
export async function readJournal(options: JournalOptions): Promise<JournalReading> {
  const { folder } = options;
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (thrown) {
      throw asJournalError(thrown, folder);
    }
  };
  const database = guarded(() => findDatabase(folder));
  if (database === undefined) return EMPTY;
  const { db, remove } = guarded(() => openToRead(database, options));
  // Made by a run that had no time to fill it.
  const isEmpty = guarded(() => versionOf(db, database) === 0);
  return {
    warnings: [],
    unfinished: async () => (isEmpty ? [] : guarded(() => unfinishedCalls(db, options))),
    async *history() {
      if (isEmpty) return;
      try {
        yield* historyOf(db, options);
      } catch (thrown) {
        throw asJournalError(thrown, folder);
      }
    },
    [Symbol.dispose]() {
      db.close();
      remove();
    },
  };
}

const EMPTY: JournalReading = {
  warnings: [],
  unfinished: async () => [],
  async *history() {},
  [Symbol.dispose]: () => undefined,
};

function findDatabase(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  assertOwnLinks(folder);
  checkPlace(folder);
  const { database } = placeIn(folder);
  return isMissing(database) ? undefined : database;
}

interface OpenedToRead {
  readonly db: Database;
  remove(): void;
}

function openToRead(database: string, { openDatabase: open = openDatabase }: JournalOptions): OpenedToRead {
  try {
    return { db: opened(open, database), remove: () => undefined };
  } catch (thrown) {
    if (!hasSqliteCode(thrown, 'CANTOPEN', 'READONLY')) throw thrown;
  }
  // Where this user cannot write, SQLite cannot make the file that processes share.
  const folder = mkdtempSync(join(tmpdir(), 'codesign-remote-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    for (const end of ['', '-wal']) {
      if (!isMissing(database + end)) copyFileSync(database + end, join(folder, `journal.db${end}`));
    }
    return { db: opened(open, join(folder, 'journal.db')), remove };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}

function opened(open: (path: string) => Database, path: string): Database {
  const db = open(path);
  try {
    db.exec('pragma busy_timeout = 5000; pragma query_only = on');
    versionOf(db, path);
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}
