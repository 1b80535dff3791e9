import {
  type Dialect,
  Kysely,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import Database from 'libsql';
import PromiseDatabase from 'libsql/promise';
import { ServerError } from '../errors.ts';
import { retryWhileBusy } from '../files.ts';
import type { PrepareTables } from './migrations.ts';
import type { Syntax, Tables } from './rows.ts';
import { type Store, storeOver } from './store.ts';

/** Milliseconds to wait while another process writes. */
const PATIENCE = 10_000;
/** Number of compiled statements to keep. */
const STATEMENTS = 24;

const SQLITE: Syntax = {
  /** See https://www.sqlite.org/json1.html#jeach. */
  rowsTable(rows, columns) {
    const members = columns.map((column) => sql`value->>${sql.lit(column)} as ${sql.ref(column)}`);
    return sql`(select ${sql.join(members)} from json_each(${JSON.stringify(rows)})) as given`;
  },
  month: sql`strftime('%Y-%m', 'now')`,
};

export async function openSqliteStore(path: string, prepare: PrepareTables): Promise<Store> {
  const file = new Database(path);
  const database = new Kysely<Tables>({ dialect: sqliteDialect(file) });
  try {
    // kysely has no lock for SQLite, so one transaction prepares the tables.
    await retryWhileBusy(() => file.pragma('journal_mode = WAL'));
    await retryWhileBusy(() => file.exec('BEGIN IMMEDIATE'));
    await prepare(database);
    file.exec('COMMIT');
    file.pragma(`busy_timeout = ${PATIENCE}`);
    file.pragma('synchronous = FULL'); // a transaction is durable before its response leaves
    file.pragma('foreign_keys = ON');
  } catch (error) {
    if (file.inTransaction) file.exec('ROLLBACK'); // open statements would keep the lock
    await database.destroy();
    throw error instanceof ServerError ? error : new ServerError('database-unusable', {}, error);
  }
  // The first queries of each call use a second connection, so they do not wait for writers.
  const forReading = new Database(path);
  forReading.pragma('cache_size = -256'); // KiB: clients and certificates are few
  forReading.pragma(`busy_timeout = ${PATIENCE}`);
  const reading = new Kysely<Tables>({ dialect: sqliteDialect(forReading) });
  return storeOver(database, reading, SQLITE, async () => {
    await reading.destroy();
    await database.destroy();
  });
}

/**
 * A transaction waits for other writers and for the disk on a thread of libsql, so the event loop is not blocked.
 * @param file is closed by the dialect
 */
function sqliteDialect(file: Database.Database): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createDriver() {
      const driver = new SqliteDriver({ database: withStatements(file) });
      driver.beginTransaction = () => execAside(file, 'BEGIN IMMEDIATE');
      driver.commitTransaction = () => execAside(file, 'COMMIT');
      // After some errors, such as a full disk, SQLite has already rolled back the transaction.
      driver.rollbackTransaction = async () => {
        if (file.inTransaction) await execAside(file, 'ROLLBACK');
      };
      return driver;
    },
  };
}

/** Both of libsql's interfaces store the connection in the same property. */
async function execAside(file: Database.Database, sql: string): Promise<void> {
  await PromiseDatabase.prototype.exec.call(file, sql);
}

function withStatements(file: Database.Database) {
  const statements = new Map<string, Database.Statement>();
  return {
    prepare(sql: string) {
      const statement = statements.get(sql) ?? file.prepare(sql);
      statements.delete(sql);
      statements.set(sql, statement); // moves the last used statement to the end
      const [oldest] = statements.keys();
      if (statements.size > STATEMENTS && oldest !== undefined) statements.delete(oldest);
      return statement;
    },
    close: () => file.close(),
  };
}
