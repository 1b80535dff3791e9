import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import type { Pool } from 'pg';
import { ServerError } from '../errors.ts';
import { PostgresError, rolledBack, unreachable } from './database-errors.ts';
import type { PrepareTables } from './migrations.ts';
import type { Syntax, Tables } from './rows.ts';
import { type Store, storeOver } from './store.ts';

const CONNECTIONS = 10;
const PATIENCE = 10_000;
/** Number of compiled statements that a connection keeps: the statements that every call uses, and a few others. */
const STATEMENTS = 32;

const POSTGRES: Syntax = {
  /** See PostgreSQL's documentation, section 9.16.1: JSON processing functions. */
  rowsTable(rows, columns) {
    const members = columns.map((column) => sql`${sql.ref(column)} text`);
    return sql`json_to_recordset(${JSON.stringify(rows)}) as given (${sql.join(members)})`;
  },
  month: sql`to_char(now() at time zone 'utc', 'YYYY-MM')`,
};

/**
 * @param url `postgres://…`; parts that it omits come from the environment variables of PostgreSQL's tools (PGPASSWORD,
 * PGSSLMODE, …)
 */
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
    // Forces the use of an index for every query. A plan that was made while the table was empty would scan the whole
    // table until the connection is closed. No statement of this server takes long enough to benefit from JIT
    // compilation.
    options: '-c enable_seqscan=off -c jit=off',
  });
  // If a connection breaks, its query fails, and the pool opens another connection for the next query. Without these
  // listeners, error events would end the process. One listener is for idle connections, the other for connections in
  // use.
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
 * - A COMMIT that PostgreSQL answers with ROLLBACK, because a statement of the transaction failed, is an error.
 * - A connection is closed after a timeout or a failure, because its next user could be inside an open transaction.
 * - Statements are compiled once per connection, and those of a batch are sent in one write.
 */
export function checkedPool(pool: Pool, isAnswer: (error: unknown) => boolean): PostgresPool {
  const names = new Map<string, string>();
  const nameOf = (text: string): string | undefined => {
    if (names.size < STATEMENTS && !names.has(text)) names.set(text, `statement-${names.size}`);
    return names.get(text);
  };
  const coded = (error: unknown) => (isAnswer(error) || error instanceof PostgresError ? error : unreachable(error));
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
          if (text === 'commit' && result.command !== 'COMMIT') throw rolledBack(result.command);
          return result;
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
