/** The embedded database: one SQLite file in the data folder, through libsql. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely } from 'kysely';
import Database from 'libsql';
import { reasonOf, serverError } from '../errors.ts';
import { findCertificates } from './certificates.ts';
import { findClients } from './clients.ts';
import { takeSteps } from './counting.ts';
import { sqliteRows } from './json-rows.ts';
import { migrate, type Shared, storeOver } from './kysely-store.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import type { Store } from './store.ts';
import type { Tables } from './tables.ts';

/** How long another process may write, in milliseconds: several servers and the administration commands share the file. */
const PATIENCE = 10_000;
const INTERVAL = 20;

/**
 * Opens the database file, makes it where it is missing, and brings its tables up to date.
 * @throws `database-unusable`
 */
export async function openSqliteStore(path: string): Promise<Store> {
  const file = new Database(path);
  const database = new Kysely<Tables>({ dialect: sqliteDialect(file) });
  try {
    // All of it or nothing, and by one server at a time: kysely has no lock of its own for SQLite.
    await whenFree(() => file.pragma('journal_mode = WAL'));
    await whenFree(() => file.exec('BEGIN IMMEDIATE'));
    await migrate(database);
    file.exec('COMMIT');
    file.pragma(`busy_timeout = ${PATIENCE}`);
    file.pragma('synchronous = FULL'); // a transaction is on the disk before its answer leaves
    file.pragma('foreign_keys = ON');
  } catch (error) {
    await database.destroy(); // closing takes an open transaction back
    throw serverError('database-unusable', { reason: reasonOf(error) }, error);
  }
  // A connection of its own for what every call asks first: it waits for nobody who writes.
  const beside = new Database(path);
  beside.pragma('cache_size = -256'); // KiB: clients and certificates are few
  beside.pragma(`busy_timeout = ${PATIENCE}`);
  const reading = new Kysely<Tables>({ dialect: sqliteDialect(beside) });
  const shared: Shared = {
    findClients: (accessKeys) => findClients(reading, accessKeys),
    findCertificates: (numbers) => findCertificates(reading, numbers),
    takeSteps: (steps) => takeSteps(database, sqliteRows, steps),
  };
  return storeOver(database, shared, async () => {
    await reading.destroy();
    await database.destroy();
  });
}

/** Not by SQLite's own waiting, which would hold this whole process up for as long as migrations of another take. */
async function whenFree(work: () => void): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      const busy = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';
      if (!busy || performance.now() > deadline) throw error;
      await sleep(INTERVAL);
    }
  }
}
