/** The store's quota: places kept before the HSM signs, given back or counted after it (counting.ts counts). */

import type { Kysely, Transaction } from 'kysely';
import type { Step } from './counting.ts';
import { changePlaces, removeExpired } from './places.ts';
import type { Lease, Store } from './store.ts';
import type { Tables } from './tables.ts';

export function quotaOf(database: Kysely<Tables>, take: (step: Step) => Promise<boolean>): Store['quota'] {
  return {
    reserve: (lease, now) => take({ lease, now }),
    async release(lease) {
      return await database.transaction().execute(async (transaction) => {
        await changePlaces(transaction, lease.clientId, { signatures: 0, reserved: -1 });
        if (await removeLease(transaction, lease)) return true;
        await changePlaces(transaction, lease.clientId, { signatures: 0, reserved: 1 });
        return !(await isCounted(transaction, lease));
      });
    },
    async giveBackExpired(now) {
      const holders = await database
        .selectFrom('leases')
        .select('client_id')
        .distinct()
        .where('expires_at', '<=', now.toISOString())
        .execute();
      let found = 0;
      for (const { client_id: clientId } of holders) {
        found += await database.transaction().execute(async (transaction) => {
          await changePlaces(transaction, clientId, { signatures: 0, reserved: 0 });
          return await removeExpired(transaction, clientId, now);
        });
      }
      return found;
    },
  };
}

/** A record has the id of its lease. */
async function isCounted(transaction: Transaction<Tables>, { id }: Lease): Promise<boolean> {
  const row = await transaction
    .selectFrom('records')
    .select('id')
    .where('id', '=', id)
    .where('counted', '=', 1)
    .executeTakeFirst();
  return row !== undefined;
}

async function removeLease(transaction: Transaction<Tables>, { id }: Lease): Promise<boolean> {
  const { numDeletedRows } = await transaction.deleteFrom('leases').where('id', '=', id).executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}
