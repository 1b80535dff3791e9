/** The store's signature records over kysely. */

import type { Kysely } from 'kysely';
import { countInPlaceOf } from './quota.ts';
import { hex, isStorable, toRecord } from './rows.ts';
import type { Lease, SignatureRecord, Store } from './store.ts';
import type { Tables } from './tables.ts';

/** Thrown inside a transaction to undo it. */
const NO_PLACE = Symbol('no place of the quota is left');

export function recordsOf(database: Kysely<Tables>): Omit<Store['records'], 'search' | 'perDay'> {
  return {
    async add(record, lease) {
      try {
        await countAndAdd(database, record, lease);
        return true;
      } catch (thrown) {
        if (thrown === NO_PLACE) return false;
        throw thrown;
      }
    },
    async find(id) {
      if (!isStorable(id)) return undefined;
      const row = await database.selectFrom('records').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toRecord(row);
    },
    async list({ clientId, certificate, since, until }, limit, after) {
      let query = database.selectFrom('records').selectAll();
      if (clientId !== undefined) query = query.where('client_id', '=', clientId);
      if (certificate !== undefined) query = query.where('certificate', '=', certificate);
      if (since !== undefined) query = query.where('signed_at', '>=', since.toISOString());
      if (until !== undefined) query = query.where('signed_at', '<', until.toISOString());
      if (after !== undefined) {
        // As a pair: then the database goes to that place of its index instead of through all that is before it.
        query = query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('signed_at', 'id'), '>', tuple(after.signedAt.toISOString(), after.id)),
        );
      }
      const rows = await query.orderBy('signed_at').orderBy('id').limit(limit).execute();
      return rows.map(toRecord);
    },
    async uncount(id) {
      await database.transaction().execute(async (transaction) => {
        const row = await transaction
          .updateTable('records')
          .set({ counted: 0 })
          .where('id', '=', id)
          .where('counted', '=', 1)
          .returning('client_id')
          .executeTakeFirst();
        if (row === undefined) return;
        await transaction
          .updateTable('clients')
          .set((expression) => ({ signatures: expression('signatures', '-', 1) }))
          .where('id', '=', row.client_id)
          .execute();
      });
    },
    async report(id, clientId, status, at) {
      if (!isStorable(id)) return undefined;
      const row = await database
        .updateTable('records')
        .set({ report_status: status, reported_at: at.toISOString() })
        .where('id', '=', id)
        .where('client_id', '=', clientId)
        .returningAll()
        .executeTakeFirst();
      return row && toRecord(row);
    },
  };
}

async function countAndAdd(
  database: Kysely<Tables>,
  record: Omit<SignatureRecord, 'counted' | 'report'>,
  lease: Lease,
): Promise<void> {
  const { extra, signature } = record;
  await database.transaction().execute(async (transaction) => {
    if (!(await countInPlaceOf(transaction, lease))) throw NO_PLACE;
    await transaction
      .insertInto('records')
      .values({
        id: record.id,
        client_id: record.clientId,
        certificate: record.certificate,
        algorithm: record.algorithm,
        digest: hex(record.digest),
        extra: extra === undefined ? null : JSON.stringify(extra),
        signature: signature === undefined ? null : Buffer.from(signature).toString('base64'),
        signed_at: record.signedAt.toISOString(),
      })
      .execute();
  });
}
