/** The embedded database: one SQLite file in the data folder, through libsql. */

import { Kysely, SqliteDialect } from 'kysely';
import Database from 'libsql';
import { openStore } from './kysely-store.ts';
import type { Store } from './store.ts';
import type { Tables } from './tables.ts';

/** Opens the database file, makes it where it is missing, and brings its tables up to date. */
export async function openSqliteStore(path: string): Promise<Store> {
  const file = new Database(path);
  file.pragma('busy_timeout = 5000'); // the administration commands write beside a running server
  file.pragma('journal_mode = WAL');
  file.pragma('synchronous = FULL'); // a transaction is on the disk before its answer leaves
  file.pragma('foreign_keys = ON');
  return await openStore(new Kysely<Tables>({ dialect: new SqliteDialect({ database: file }) }));
}
