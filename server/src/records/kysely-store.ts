/** The store over any database that kysely speaks to. */

import { type Kysely, Migrator, sql } from 'kysely';
import { authorityOf, certificateRequestsOf, certificatesOf, timestampAuthorityOf } from './certificates.ts';
import { clientsOf } from './clients.ts';
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

/** Serves a database whose tables are up to date. */
export function storeOver(database: Kysely<Tables>): Store {
  return {
    viewers: viewersOf(database),
    clients: clientsOf(database),
    certificates: certificatesOf(database),
    certificateRequests: certificateRequestsOf(database),
    authority: authorityOf(database),
    timestampAuthority: timestampAuthorityOf(database),
    quota: quotaOf(database),
    records: { ...recordsOf(database), ...searchOf(database) },
    async check() {
      await sql`select 1`.execute(database);
    },
    close: () => database.destroy(),
  };
}
