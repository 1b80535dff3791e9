/** The store's quota: places kept before the HSM signs, given back or counted after it (counting.ts counts). */

import type { Kysely, Transaction } from 'kysely';
import type { Batches } from './batches.ts';
import type { Step } from './counting.ts';
import { changePlaces, removeExpired } from './places.ts';
import type { Lease, Store } from './store.ts';
import type { Tables } from './tables.ts';

export function quotaOf(database: Kysely<Tables>, steps: Batches<Step, boolean>): Store['quota'] {
  return {
    reserve: (lease, now) => steps.add({ lease, now }),
    async release(lease) {
      await database.transaction().execute(async (transaction) => {
        await changePlaces(transaction, lease.clientId, { signatures: 0, reserved: -1 });
        const removed = await removeLease(transaction, lease);
        if (!removed) await changePlaces(transaction, lease.clientId, { signatures: 0, reserved: 1 });
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

async function removeLease(transaction: Transaction<Tables>, { id }: Lease): Promise<boolean> {
  const { numDeletedRows } = await transaction.deleteFrom('leases').where('id', '=', id).executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}
