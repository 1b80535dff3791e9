/** The store's signature records over kysely. */

import type { Kysely } from 'kysely';
import type { Step } from './counting.ts';
import { isStorable, toRecord } from './rows.ts';
import type { Store } from './store.ts';
import type { Tables } from './tables.ts';

export function recordsOf(
  database: Kysely<Tables>,
  take: (step: Step) => Promise<boolean>,
): Omit<Store['records'], 'search' | 'perDay'> {
  return {
    add: (record, lease) => take({ lease, record }),
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
    async prune(before, most) {
      const { numDeletedRows } = await database
        .deleteFrom('records')
        .where('id', 'in', (query) =>
          query
            .selectFrom('records')
            .select('id')
            .where('signed_at', '<', before.toISOString())
            .orderBy('signed_at')
            .orderBy('id')
            .limit(most),
        )
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },
    async report(id, clientId, status, at) {
      if (!isStorable(id)) return undefined;
      // In a transaction: with SQLite only its begin waits for another process that writes, on another thread.
      const row = await database
        .transaction()
        .execute((transaction) =>
          transaction
            .updateTable('records')
            .set({ report_status: status, reported_at: at.toISOString() })
            .where('id', '=', id)
            .where('client_id', '=', clientId)
            .returningAll()
            .executeTakeFirst(),
        );
      return row && toRecord(row);
    },
  };
}
