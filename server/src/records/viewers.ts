/** The store's viewers of the operator's page over kysely. */

import type { Kysely } from 'kysely';
import { hex, isStorable, toViewer } from './rows.ts';
import type { Store } from './store.ts';
import type { Tables } from './tables.ts';

export function viewersOf(database: Kysely<Tables>): Store['viewers'] {
  return {
    async list() {
      const rows = await database.selectFrom('viewers').selectAll().orderBy('created_at').execute();
      return rows.map(toViewer);
    },
    async findByAccessKey(accessKey) {
      if (!isStorable(accessKey)) return undefined;
      const row = await database
        .selectFrom('viewers')
        .selectAll()
        .where('access_key', '=', accessKey)
        .executeTakeFirst();
      return row && toViewer(row);
    },
    async add(viewer, at) {
      await database
        .insertInto('viewers')
        .values({
          id: viewer.id,
          access_key: viewer.accessKey,
          secret_digest: hex(viewer.secretDigest),
          name: viewer.name ?? null,
          expires_at: viewer.expiresAt?.toISOString() ?? null,
          created_at: at.toISOString(),
        })
        .execute();
    },
    async remove(accessKey) {
      if (!isStorable(accessKey)) return false;
      const { numDeletedRows } = await database
        .deleteFrom('viewers')
        .where('access_key', '=', accessKey)
        .executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  };
}
