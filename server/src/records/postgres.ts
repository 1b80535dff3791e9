/** A PostgreSQL database, for several servers that count together. */

import { Kysely, PostgresDialect } from 'kysely';
import { reasonOf, serverError } from '../errors.ts';
import { migrate, type Shared, storeOver } from './kysely-store.ts';
import { findCertificates, findClients, takeSteps } from './postgres-statements.ts';
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
    // and the leases, which come and go, fill it with dead rows faster than PostgreSQL cleans up.
    options: '-c enable_seqscan=off',
  });
  // An idle connection that breaks has nobody to tell: the pool has dropped it, and the next query opens another.
  pool.on('error', () => {});
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await migrate(database); // several servers at once: kysely locks the migrations, and makes them in one transaction
  } catch (error) {
    await database.destroy();
    throw serverError('database-unusable', { reason: reasonOf(error) }, error);
  }
  const shared: Shared = {
    findClients: (accessKeys) => findClients(pool, accessKeys),
    findCertificates: (numbers) => findCertificates(pool, numbers),
    takeSteps: (steps) => takeSteps(pool, database, steps),
  };
  return storeOver(database, shared, () => database.destroy());
}
