/**
 * The store's quota: places that are kept before the HSM signs, and given back or counted after it (counting.ts counts).
 * Every transaction that touches places locks its client's row first, by changing it: so no two of them wait for each
 * other, and none checks the quota against what another one is about to change. That holds whatever the servers' clocks
 * say: a lease that a fast clock considers expired costs its call the answer, never the quota its limit.
 */

import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './rows.ts';
import type { Lease, SignatureRecord, Store } from './store.ts';

export type NewRecord = Omit<SignatureRecord, 'counted' | 'report'>;

/** Reserves a place, at a time that decides which leases have expired; or counts in the place, and stores the record. */
export type Step = { readonly lease: Lease } & ({ readonly now: Date } | { readonly record: NewRecord });

export function quotaOf(database: Kysely<Tables>, take: (step: Step) => Promise<boolean>): Store['quota'] {
  return {
    reserve: (lease, now) => take({ lease, now }),
    async release(lease) {
      return await database.transaction().execute(async (transaction) => {
        await changeQuota(transaction, lease.clientId, { signatures: 0, reserved: -1 });
        if (await removeLease(transaction, lease)) return true;
        await changeQuota(transaction, lease.clientId, { signatures: 0, reserved: 1 });
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
          await changeQuota(transaction, clientId, { signatures: 0, reserved: 0 });
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

/** The change of a client's signatures and reservations. */
export interface QuotaChange {
  readonly signatures: number;
  readonly reserved: number;
}

/**
 * Changes them, and locks the client's row until the transaction ends.
 * @param wanted places to reserve as well: where fewer are left, nothing is changed
 * @returns whether it was changed
 */
export async function changeQuota(
  transaction: Transaction<Tables>,
  clientId: string,
  { signatures, reserved }: QuotaChange,
  wanted = 0,
): Promise<boolean> {
  let query = transaction
    .updateTable('clients')
    .set((expression) => ({
      signatures: expression('signatures', '+', signatures),
      reserved: expression('reserved', '+', reserved + wanted),
    }))
    .where('id', '=', clientId);
  if (wanted > 0) {
    query = query.where((expression) => {
      const used = expression(expression('signatures', '+', expression.ref('reserved')), '+', wanted);
      return expression.or([expression('quota', 'is', null), expression(used, '<=', expression.ref('quota'))]);
    });
  }
  const { numUpdatedRows } = await query.executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Gives back the places of a client whose row this transaction has locked. @returns how many */
export async function removeExpired(transaction: Transaction<Tables>, clientId: string, now: Date): Promise<number> {
  const { numDeletedRows } = await transaction
    .deleteFrom('leases')
    .where('client_id', '=', clientId)
    .where('expires_at', '<=', now.toISOString())
    .executeTakeFirstOrThrow();
  const found = Number(numDeletedRows);
  if (found > 0) await changeQuota(transaction, clientId, { signatures: 0, reserved: -found });
  return found;
}
