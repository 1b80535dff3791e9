/**
 * The places of a client's quota: kept before the HSM signs, given back or counted after it.
 * Every transaction that touches places locks its client's row first, by changing it: so no two of them wait for each
 * other, and none judges the quota by what another one is about to change. That holds whatever the servers' clocks say:
 * a lease that a fast clock takes for expired costs its call the answer, never the quota its bound.
 */

import type { ExpressionBuilder, Kysely, Transaction } from 'kysely';
import type { Lease, Store } from './store.ts';
import type { Tables } from './tables.ts';

export function quotaOf(database: Kysely<Tables>): Store['quota'] {
  return {
    async reserve(lease, now) {
      if (await reserve(database, lease)) return true;
      const found = await giveBackExpired(database, lease.clientId, now);
      return found > 0 && (await reserve(database, lease));
    },
    async release(lease) {
      await database.transaction().execute(async (transaction) => {
        await change(transaction, lease.clientId, { reserved: -1 });
        if (!(await removeLease(transaction, lease))) await change(transaction, lease.clientId, { reserved: 1 });
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
      for (const holder of holders) found += await giveBackExpired(database, holder.client_id, now);
      return found;
    },
  };
}

/** The place of a lease becomes a count. @returns false where the place is gone and no other is left; then roll back */
export async function countInPlaceOf(transaction: Transaction<Tables>, lease: Lease): Promise<boolean> {
  await change(transaction, lease.clientId, { signatures: 1, reserved: -1 });
  if (await removeLease(transaction, lease)) return true;
  // It expired and was given back: what was taken off just now is taken anew, where a place is left.
  const { numUpdatedRows } = await transaction
    .updateTable('clients')
    .set((expression) => ({ reserved: expression('reserved', '+', 1) }))
    .where('id', '=', lease.clientId)
    .where(placeIsLeft)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

async function reserve(database: Kysely<Tables>, lease: Lease): Promise<boolean> {
  return await database.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('clients')
      .set((expression) => ({ reserved: expression('reserved', '+', 1) }))
      .where('id', '=', lease.clientId)
      .where(placeIsLeft)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows !== 1n) return false;
    await transaction
      .insertInto('leases')
      .values({ id: lease.id, client_id: lease.clientId, expires_at: lease.expiresAt.toISOString() })
      .execute();
    return true;
  });
}

function placeIsLeft(expression: ExpressionBuilder<Tables, 'clients'>) {
  return expression.or([
    expression('quota', 'is', null),
    expression(expression('signatures', '+', expression.ref('reserved')), '<', expression.ref('quota')),
  ]);
}

async function giveBackExpired(database: Kysely<Tables>, clientId: string, now: Date): Promise<number> {
  return await database.transaction().execute(async (transaction) => {
    await change(transaction, clientId, { reserved: 0 });
    const { numDeletedRows } = await transaction
      .deleteFrom('leases')
      .where('client_id', '=', clientId)
      .where('expires_at', '<=', now.toISOString())
      .executeTakeFirstOrThrow();
    const found = Number(numDeletedRows);
    await change(transaction, clientId, { reserved: -found });
    return found;
  });
}

async function change(
  transaction: Transaction<Tables>,
  clientId: string,
  { signatures = 0, reserved }: { readonly signatures?: number; readonly reserved: number },
): Promise<void> {
  await transaction
    .updateTable('clients')
    .set((expression) => ({
      signatures: expression('signatures', '+', signatures),
      reserved: expression('reserved', '+', reserved),
    }))
    .where('id', '=', clientId)
    .execute();
}

async function removeLease(transaction: Transaction<Tables>, { id }: Lease): Promise<boolean> {
  const { numDeletedRows } = await transaction.deleteFrom('leases').where('id', '=', id).executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}
