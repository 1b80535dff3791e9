/** Accesses SQLite through Node.js or the package libsql, using only the calls that both support. */

import { createRequire } from 'node:module';
import { journalErrors } from './errors.ts';

/** Blobs are not used, because the two drivers return blobs as different objects. */
export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

export interface Database {
  exec(sql: string): void;
  /** Returns the number of rows that were changed. */
  run(sql: string, ...values: readonly Value[]): number;
  get(sql: string, ...values: readonly Value[]): Row | undefined;
  all(sql: string, ...values: readonly Value[]): readonly Row[];
  close(): void;
}

interface Statement {
  run(...values: readonly Value[]): { readonly changes: number | bigint };
  get(...values: readonly Value[]): Row | undefined;
  all(...values: readonly Value[]): readonly Row[];
}

type Driver = new (path: string) => Pick<Database, 'exec' | 'close'> & { prepare(sql: string): Statement };

export function openDatabase(path: string): Database {
  const connection = new (nodeDriver() ?? packageDriver())(path);
  const prepared = new Map<string, Statement>();
  const statement = (sql: string): Statement => {
    const one = prepared.get(sql) ?? connection.prepare(sql);
    prepared.set(sql, one);
    return one;
  };
  return {
    exec: (sql) => connection.exec(sql),
    run: (sql, ...values) => Number(statement(sql).run(...values).changes),
    get: (sql, ...values) => statement(sql).get(...values),
    all: (sql, ...values) => statement(sql).all(...values),
    close() {
      // libsql closes a connection only after its last statement has been garbage-collected.
      prepared.clear();
      connection.close();
    },
  };
}

/** SQLite may have rolled back the transaction already. */
export function rollBack(db: Database): void {
  try {
    db.exec('rollback');
  } catch {
    // No transaction is active.
  }
}

/** Node.js 22 prints a warning when SQLite is loaded, because SQLite is experimental in that version. */
function nodeDriver(): Driver | undefined {
  const { emitWarning } = process;
  process.emitWarning = (warning, ...rest: unknown[]) => {
    if (rest[0] !== 'ExperimentalWarning') Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    // A static import would be loaded at every startup, and would fail in Node.js 20.
    const builtIn = process.getBuiltinModule?.('node:sqlite') as { readonly DatabaseSync: Driver } | undefined;
    return builtIn?.DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function packageDriver(): Driver {
  try {
    return createRequire(import.meta.url)('libsql') as Driver;
  } catch (cause) {
    throw journalErrors('journal-needs-node-22', { version: process.version }, { cause });
  }
}
