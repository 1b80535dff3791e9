/** What the server remembers about clients, certificates and signatures, over any database that kysely speaks to. */

import { randomUUID } from 'node:crypto';
import { type Kysely, type Selectable, sql } from 'kysely';
import { createBatches } from './batches.ts';
import { authorityOf, certificateRequestsOf, certificatesOf } from './certificates.ts';
import { createCounting } from './counting.ts';
import type { RowsTable } from './dialect.ts';
import { clientsOf, viewersOf } from './holders.ts';
import { recordsOf } from './records.ts';
import { type Tables, toCertificate, toClient } from './rows.ts';

/** A record has about this many, most of them its signature and its extra. */
const CHECK_BYTES = 2048;

export type Store = ReturnType<typeof storeOver>;

/**
 * The store over a database whose tables are up to date.
 * @param reading the same database, for the first queries of every call
 * @param close ends its connections
 */
export function storeOver(
  database: Kysely<Tables>,
  reading: Kysely<Tables>,
  rowsTable: RowsTable,
  close: () => Promise<void>,
) {
  const find = async <T extends 'clients' | 'certificates'>(table: T, column: string, keys: readonly string[]) => {
    const given = rowsTable(
      [...new Set(keys)].map((key) => ({ key })),
      ['key'],
    );
    const text = sql<
      Selectable<Tables[T]>
    >`select * from ${sql.table(table)} where ${sql.ref(column)} in (select key from ${given})`;
    return (await text.execute(reading)).rows;
  };
  const clients = createBatches(async (accessKeys: readonly string[]) => {
    const rows = await find('clients', 'access_key', accessKeys);
    const found = new Map(rows.map((row) => [row.access_key, toClient(row)]));
    return accessKeys.map((accessKey) => found.get(accessKey));
  });
  const certificates = createBatches(async (numbers: readonly string[]) => {
    const rows = await find('certificates', 'number', numbers);
    const found = new Map(rows.map((row) => [row.number, toCertificate(row)]));
    return numbers.map((number) => found.get(number));
  });
  const counting = createCounting(database, rowsTable);
  return {
    viewers: viewersOf(database),
    clients: clientsOf(database, clients),
    certificates: certificatesOf(database, certificates),
    certificateRequests: certificateRequestsOf(database),
    authority: authorityOf(database),
    records: recordsOf(database),
    counting,
    /** Rejects where the database does not answer, or cannot store as much as a signature needs. */
    async check() {
      // As much as a signature stores, in a transaction that leaves nothing behind: a full disk rejects it.
      const row = { number: `check-${randomUUID()}`, key_id: '', request: ' '.repeat(CHECK_BYTES), created_at: '' };
      await database.transaction().execute(async (transaction) => {
        await transaction.insertInto('certificate_requests').values(row).execute();
        await transaction.deleteFrom('certificate_requests').where('number', '=', row.number).execute();
      });
    },
    async close() {
      await Promise.all([clients.drain(), certificates.drain(), counting.drain()]);
      await close();
    },
  };
}
