import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import type { Pool } from 'pg';
import { reasonOf, ServerError } from '../errors.ts';
import { PostgresError } from './database-errors.ts';
import type { PrepareTables } from './migrations.ts';
import type { Syntax, Tables } from './rows.ts';
import { type Store, storeOver } from './store.ts';

const CONNECTIONS = 10;
const PATIENCE = 10_000;
/** Number of compiled statements that a connection keeps. */
const STATEMENTS = 32;

const POSTGRES: Syntax = {
  /** See PostgreSQL's documentation, section 9.16.1: JSON processing functions. */
  rowsTable(rows, columns) {
    const members = columns.map((column) => sql`${sql.ref(column)} text`);
    return sql`json_to_recordset(${JSON.stringify(rows)}) as given (${sql.join(members)})`;
  },
  month: sql`to_char(timezone('utc', now()), 'YYYY-MM')`,
};

/** @param url `postgres://…`; PostgreSQL's environment variables (PGPASSWORD, PGSSLMODE, …) set the omitted parts */
export async function openPostgresStore(url: string, prepare: PrepareTables): Promise<Store> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: PATIENCE,
    statement_timeout: PATIENCE,
    query_timeout: 2 * PATIENCE, // if no answer arrives at all
    application_name: 'codesign-remote-server',
    pipeline: true, // the statements of a batch are sent together, in one round trip
    // Without `enable_seqscan=off`, a statement that was planned for an empty table would scan the whole table until the
    // connection is closed. No statement takes long enough to benefit from JIT compilation.
    options: '-c enable_seqscan=off -c jit=off',
  });
  // Error events of broken connections would end the process. The query on a broken connection fails, and the pool opens
  // another connection. The first listener is for idle connections, and the second for used connections.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const isAnswer = (error: unknown) => error instanceof pg.DatabaseError;
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: checkedPool(pool, isAnswer) }) });
  try {
    await prepare(database); // safe with several servers: kysely locks the migrations, and runs them in one transaction
  } catch (error) {
    await database.destroy();
    throw error instanceof ServerError ? error : new ServerError('database-unusable', {}, error);
  }
  return storeOver(database, database, POSTGRES, () => database.destroy());
}

/**
 * Wraps the pool for Kysely:
 * - Every error has a PostgreSQL code.
 * - A COMMIT that PostgreSQL answers with ROLLBACK is an error.
 * - A connection is closed after a timeout or a failure, because a transaction may still be open.
 * - Statements are compiled once per connection, and the statements of a batch are sent in one write.
 */
export function checkedPool(pool: Pool, isAnswer: (error: unknown) => boolean): PostgresPool {
  const names = new Map<string, string>();
  const nameOf = (text: string): string | undefined => {
    if (names.size < STATEMENTS && !names.has(text)) names.set(text, `statement-${names.size}`);
    return names.get(text);
  };
  const coded = (error: unknown) =>
    isAnswer(error) || error instanceof PostgresError
      ? error
      : new PostgresError('08000', reasonOf(error) || 'the database cannot be reached', error);
  return {
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw coded(error);
      });
      let broken = false;
      const { stream } = client.connection;
      const query = async (text: string, values: readonly unknown[]) => {
        if (broken && text === 'rollback') return { command: 'ROLLBACK', rows: [] };
        stream.cork();
        process.nextTick(() => stream.uncork());
        try {
          const name = values.length > 0 ? nameOf(text) : undefined;
          const result = await client.query({ text, values: [...values], ...(name !== undefined && { name }) });
          if (text !== 'commit' || result.command === 'COMMIT') return result;
          throw new PostgresError('40000', `the database answered COMMIT with ${result.command}`);
        } catch (error) {
          broken ||= !isAnswer(error) && !(error instanceof PostgresError);
          throw coded(error);
        }
      };
      const release = () => client.release(broken);
      return { query, release } as unknown as PostgresPoolClient; // Kysely's other form of query is for cursors
    },
  };
}
