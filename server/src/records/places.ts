/**
 * The places of a client's quota, changed within a transaction.
 * Every transaction that touches places locks its client's row first, by changing it: so no two of them wait for each
 * other, and none judges the quota by what another one is about to change. That holds whatever the servers' clocks say:
 * a lease that a fast clock takes for expired costs its call the answer, never the quota its bound.
 */

import type { Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/** By how many a client's signatures and the places its calls hold change. */
export interface Places {
  readonly signatures: number;
  readonly reserved: number;
}

/** Changes them, and locks the client's row until the transaction ends. */
export async function changePlaces(
  transaction: Transaction<Tables>,
  clientId: string,
  { signatures, reserved }: Places,
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

/** Makes the change and takes `wanted` places besides, where that many are left. @returns whether they were; if not, nothing is done */
export async function takeIfLeft(
  transaction: Transaction<Tables>,
  clientId: string,
  wanted: number,
  { signatures, reserved }: Places,
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
  if (found > 0) await changePlaces(transaction, clientId, { signatures: 0, reserved: -found });
  return found;
}
