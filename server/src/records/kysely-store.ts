/** The store over any database that kysely speaks to. */

import { type Kysely, Migrator, sql } from 'kysely';
import { createBatches } from './batches.ts';
import {
  authorityOf,
  certificateRequestsOf,
  certificatesOf,
  findCertificates,
  timestampAuthorityOf,
} from './certificates.ts';
import { clientsOf, findClients } from './clients.ts';
import { takeSteps } from './counting.ts';
import { quotaOf } from './quota.ts';
import { recordsOf } from './records.ts';
import { searchOf } from './search.ts';
import type { Store } from './store.ts';
import { MIGRATIONS, type Tables } from './tables.ts';
import { viewersOf } from './viewers.ts';

/** Brings the database to the newest shape of its tables; refuses one of a newer server. */
export async function migrate(database: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** How many calls are served together at most: more would make a statement long, and the first of them wait for the last. */
const AT_ONCE = 128;

/**
 * Serves a database whose tables are up to date.
 * @param reading the same one, for reading only, where that need not wait for what is written
 */
export function storeOver(database: Kysely<Tables>, reading: Kysely<Tables> = database): Store {
  const batches = {
    clients: createBatches(findClients.bind(undefined, reading), AT_ONCE),
    certificates: createBatches(findCertificates.bind(undefined, reading), AT_ONCE),
    steps: createBatches(takeSteps.bind(undefined, database), AT_ONCE),
  };
  return {
    viewers: viewersOf(database),
    clients: clientsOf(database, batches.clients),
    certificates: certificatesOf(database, batches.certificates),
    certificateRequests: certificateRequestsOf(database),
    authority: authorityOf(database),
    timestampAuthority: timestampAuthorityOf(database),
    quota: quotaOf(database, batches.steps),
    records: { ...recordsOf(database, batches.steps), ...searchOf(database) },
    async check() {
      await sql`select 1`.execute(database);
    },
    async close() {
      await Promise.all(Object.values(batches).map((each) => each.drain()));
      await database.destroy();
      if (reading !== database) await reading.destroy();
    },
  };
}
