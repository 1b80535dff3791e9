/** The two kinds of databases, for tests that hold for both. */

import Database from 'libsql';
import { prepareTables } from '../../src/records/migrations.ts';
import { openPostgresStore } from '../../src/records/postgres.ts';
import { openSqliteStore } from '../../src/records/sqlite.ts';
import { usePostgres } from './postgres.ts';

export const KINDS = ['SQLite', 'PostgreSQL'] as const;

/** @param path of a new SQLite database */
export async function newDatabase(kind: (typeof KINDS)[number], path: string) {
  const postgres = await usePostgres();
  const url = kind === 'PostgreSQL' ? await postgres.newDatabase() : undefined;
  return {
    open: (prepare = prepareTables('create')) =>
      url === undefined ? openSqliteStore(path, prepare) : openPostgresStore(url, prepare),
    async run(sql: string): Promise<unknown> {
      if (url !== undefined) return await postgres.query(url, sql);
      const file = new Database(path);
      try {
        return sql.startsWith('select') ? file.prepare(sql).all() : file.exec(sql);
      } finally {
        file.close();
      }
    },
  };
}

/**
 * Two servers on one new database. With SQLite they are the same one, since two in one process wait for each other's
 * locks.
 */
export async function openStores(kind: (typeof KINDS)[number], path: string) {
  const { open, run } = await newDatabase(kind, path);
  const store = await open();
  const other = kind === 'SQLite' ? store : await open();
  const close = async () => {
    await store.close();
    if (other !== store) await other.close();
  };
  return { store, other, run, [Symbol.asyncDispose]: close };
}
