/** A PostgreSQL database, for several servers that count together. */

import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import type { Pool } from 'pg';
import { reasonOf, serverError } from '../errors.ts';
import { takeSteps } from './counting.ts';
import { postgresRows } from './json-rows.ts';
import { migrate, type Shared, storeOver } from './kysely-store.ts';
import { findCertificates, findClients, takeSteps as takeMostSteps } from './postgres-statements.ts';
import type { Store } from './store.ts';
import type { Tables } from './tables.ts';

/** How many connections one server opens at most. */
const CONNECTIONS = 10;
/** Milliseconds; a database that takes longer is taken for one that does not answer. */
const PATIENCE = 10_000;

/**
 * Connects, and brings the tables up to date.
 * @param url `postgres://…`; what it lacks comes from the variables of PostgreSQL's own tools (PGPASSWORD, PGSSLMODE, …)
 * @throws `database-unusable`
 */
export async function openPostgresStore(url: string): Promise<Store> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: PATIENCE,
    statement_timeout: PATIENCE,
    query_timeout: 2 * PATIENCE, // where no answer comes at all
    application_name: 'codesign-remote-server',
    // Each table is asked by an index. A plan made while one was empty would scan it for as long as the connection lives,
    // and the leases, which come and go, fill it with dead rows faster than PostgreSQL cleans up. No statement here is long
    // enough for compiling it to pay.
    options: '-c enable_seqscan=off -c jit=off',
  });
  // The query under way fails when its connection breaks, and the pool opens another one for the next query. Without these
  // listeners the error events would end the process: the pool's is for idle connections, the other for those in use.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const isAnswer = (error: unknown) => error instanceof pg.DatabaseError;
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: closingBroken(pool, isAnswer) }) });
  try {
    await migrate(database); // several servers at once: kysely locks the migrations, and makes them in one transaction
  } catch (error) {
    await database.destroy();
    throw serverError('database-unusable', { reason: reasonOf(error) }, error);
  }
  const shared: Shared = {
    findClients: (accessKeys) => findClients(pool, accessKeys),
    findCertificates: (numbers) => findCertificates(pool, numbers),
    takeSteps: (steps) => takeSteps(database, postgresRows, steps),
    takeMostSteps: (steps) => takeMostSteps(pool, steps),
  };
  return storeOver(database, shared, () => database.destroy());
}

/**
 * The pool as Kysely uses it. After an error that is not the database's own answer (a time-out, a broken connection) a
 * statement may still run and a transaction may still be open. Such a connection is closed: its next user would work
 * inside that transaction, which nothing commits.
 */
function closingBroken(pool: Pool, isAnswer: (error: unknown) => boolean): PostgresPool {
  return {
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      let broken = false;
      const query = async (sql: string, parameters: readonly unknown[]) => {
        try {
          return await client.query(sql, [...parameters]);
        } catch (error) {
          broken ||= !isAnswer(error);
          throw error;
        }
      };
      const release = () => client.release(broken);
      return { query, release } as unknown as PostgresPoolClient; // Kysely's other form of query is for cursors
    },
  };
}
