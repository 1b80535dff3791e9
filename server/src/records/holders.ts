/** The store's holders of credentials: clients, and viewers of the page. */

import type { Kysely, Updateable } from 'kysely';
import type { Batches } from './batches.ts';
import { byKey, fromList, hex, isStorable, type Tables, toClient, toViewer } from './rows.ts';
import type { Client, Holder, Store } from './store.ts';

/** The client of each of these access keys. */
export async function findClients(
  database: Kysely<Tables>,
  accessKeys: readonly string[],
): Promise<readonly (Client | undefined)[]> {
  const different = [...new Set(accessKeys)];
  const rows = await database.selectFrom('clients').selectAll().where('access_key', 'in', different).execute();
  return byKey(accessKeys, rows, (row) => row.access_key, toClient);
}

/** @param byAccessKey finds clients of calls at once together */
export function clientsOf(
  database: Kysely<Tables>,
  byAccessKey: Batches<string, Client | undefined>,
): Store['clients'] {
  return {
    async list() {
      const rows = await database.selectFrom('clients').selectAll().orderBy('created_at').execute();
      return rows.map(toClient);
    },
    async findByAccessKey(accessKey) {
      return isStorable(accessKey) ? await byAccessKey.add(accessKey) : undefined;
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
          ...rowOf(client, at),
          handed_over: 1,
          certificates: fromList(client.certificates),
          algorithms: fromList(client.algorithms),
          quota: client.quota ?? null,
        })
        .execute();
    },
    async change(accessKey, change) {
      const row: Updateable<Tables['clients']> = {
        ...(change.secretDigest && { secret_digest: hex(change.secretDigest) }),
        ...('name' in change && { name: change.name ?? null }),
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
      await database.insertInto('viewers').values(rowOf(viewer, at)).execute();
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

function rowOf({ id, accessKey, secretDigest, name, expiresAt }: Omit<Holder, 'createdAt'>, at: Date) {
  return {
    id,
    access_key: accessKey,
    secret_digest: hex(secretDigest),
    name: name ?? null,
    expires_at: expiresAt?.toISOString() ?? null,
    created_at: at.toISOString(),
  };
}
