/**
 * SQLite for kysely, made for many calls at once: a transaction waits for its turn to write and for the disk on a thread
 * of libsql's, so that meanwhile this process serves on, and statements are compiled once.
 */

import { type Dialect, SqliteAdapter, SqliteDriver, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type Database from 'libsql';
import PromiseDatabase from 'libsql/promise';

/** How many statements are kept compiled: those of every call. The ones with many rows differ each time, and are large. */
const STATEMENTS = 24;

/** @param file belongs to the dialect from now on, which closes it */
export function sqliteDialect(file: Database.Database): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createDriver() {
      const driver = new SqliteDriver({ database: withStatements(file) });
      driver.beginTransaction = () => execAside(file, 'BEGIN IMMEDIATE');
      driver.commitTransaction = () => execAside(file, 'COMMIT');
      driver.rollbackTransaction = () => execAside(file, 'ROLLBACK');
      return driver;
    },
  };
}

/** Both faces of libsql keep the connection at the same place; this is the one whose work is done on another thread. */
async function execAside(file: Database.Database, sql: string): Promise<void> {
  await PromiseDatabase.prototype.exec.call(file, sql);
}

function withStatements(file: Database.Database) {
  const statements = new Map<string, Database.Statement>();
  return {
    prepare(sql: string) {
      const statement = statements.get(sql) ?? file.prepare(sql);
      statements.delete(sql);
      statements.set(sql, statement); // as the one that was used last
      const [oldest] = statements.keys();
      if (statements.size > STATEMENTS && oldest !== undefined) statements.delete(oldest);
      return statement;
    },
    close: () => file.close(),
  };
}
