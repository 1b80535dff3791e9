/** The store's clients over kysely. */

import type { Kysely, Updateable } from 'kysely';
import { fromList, hex, isStorable, toClient } from './rows.ts';
import type { Store } from './store.ts';
import type { Tables } from './tables.ts';

export function clientsOf(database: Kysely<Tables>): Store['clients'] {
  return {
    async list() {
      const rows = await database.selectFrom('clients').selectAll().orderBy('created_at').execute();
      return rows.map(toClient);
    },
    async findByAccessKey(accessKey) {
      if (!isStorable(accessKey)) return undefined;
      const row = await database
        .selectFrom('clients')
        .selectAll()
        .where('access_key', '=', accessKey)
        .executeTakeFirst();
      return row && toClient(row);
    },
    async addPending({ id, accessKey, secretDigest }, at) {
      await database.transaction().execute(async (transaction) => {
        await transaction.deleteFrom('clients').where('handed_over', '=', 0).execute();
        await transaction
          .insertInto('clients')
          .values({ id, access_key: accessKey, secret_digest: hex(secretDigest), created_at: at.toISOString() })
          .execute();
      });
    },
    async markHandedOver(id) {
      const { numUpdatedRows } = await database
        .updateTable('clients')
        .set({ handed_over: 1 })
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows !== 1n) throw new Error(`there is no client ${id} to hand credentials over to`);
    },
    async add(client, at) {
      await database
        .insertInto('clients')
        .values({
          id: client.id,
          access_key: client.accessKey,
          secret_digest: hex(client.secretDigest),
          handed_over: 1,
          created_at: at.toISOString(),
          name: client.name ?? null,
          certificates: fromList(client.certificates),
          algorithms: fromList(client.algorithms),
          quota: client.quota ?? null,
          expires_at: client.expiresAt?.toISOString() ?? null,
        })
        .execute();
    },
    async change(accessKey, change) {
      const row: Updateable<Tables['clients']> = {
        ...(change.secretDigest && { secret_digest: hex(change.secretDigest) }),
        ...('disabled' in change && { disabled: change.disabled ? 1 : 0 }),
        ...('quota' in change && { quota: change.quota ?? null }),
        ...('expiresAt' in change && { expires_at: change.expiresAt?.toISOString() ?? null }),
        ...('certificates' in change && { certificates: fromList(change.certificates) }),
        ...('algorithms' in change && { algorithms: fromList(change.algorithms) }),
      };
      const { numUpdatedRows } = await database
        .updateTable('clients')
        .set(row)
        .where('access_key', '=', accessKey)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
  };
}
