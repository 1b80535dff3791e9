import { randomBytes, randomUUID } from 'node:crypto';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { auditOf, type Operation } from './audit.ts';
import { createBatches } from './batches.ts';
import { authorityOf, certificateRequestsOf, certificatesOf } from './certificates.ts';
import { createCounting } from './counting.ts';
import { clientColumns, clientsOf, viewersOf } from './holders.ts';
import { recordsOf } from './records.ts';
import { EXTRA_LIMIT, isStorable, type Syntax, type Tables, toCertificate, toClient } from './rows.ts';

/** Size of a test record in bytes. The largest real record is smaller, even with its index entries. */
const CHECK_BYTES = 8 * EXTRA_LIMIT;

export type Store = ReturnType<typeof storeOver>;

/** @param reading connection to the same database, for the first queries of each call */
export function storeOver(
  database: Kysely<Tables>,
  reading: Kysely<Tables>,
  syntax: Syntax,
  close: () => Promise<void>,
) {
  const lookUp = <Row, Found>(
    table: string,
    key: keyof Row & string,
    columns: RawBuilder<unknown>,
    read: (row: Row) => Found,
  ) =>
    createBatches(async (keys: readonly string[]) => {
      const given = syntax.rowsTable(
        [...new Set(keys)].filter(isStorable).map((key) => ({ key })),
        ['key'],
      );
      const from = sql`from ${sql.table(table)} where ${sql.ref(key)} in (select key from ${given})`;
      const { rows } = await sql<Row>`select ${columns} ${from}`.execute(reading);
      const found = new Map(rows.map((row) => [row[key] as string, read(row)]));
      return keys.map((each) => found.get(each));
    });
  const clients = lookUp('clients', 'access_key', clientColumns(syntax), toClient);
  const certificates = lookUp('certificates', 'number', sql`*`, toCertificate);
  const counting = createCounting(database, syntax);
  const changesIn = (connection: Kysely<Tables>) => ({
    audit: auditOf(connection),
    viewers: viewersOf(connection),
    clients: clientsOf(connection, syntax, clients),
    certificates: certificatesOf(connection, certificates),
    certificateRequests: certificateRequestsOf(connection),
  });
  return {
    ...changesIn(database),
    authority: authorityOf(database),
    records: recordsOf(database),
    counting,
    /**
     * Makes a change and its entry in the audit log in one transaction.
     * @param work must use only its parameter: with SQLite, the store's own functions would wait for the transaction
     */
    async change<T>(operation: Operation, work: (changes: ReturnType<typeof changesIn>) => Promise<T>): Promise<T> {
      return await database.transaction().execute(async (transaction) => {
        const changes = changesIn(transaction);
        const result = await work(changes);
        await changes.audit.add(operation);
        return result;
      });
    },
    /** Rejects if the database does not respond, or has no space for a record. */
    async check() {
      const request = randomBytes(CHECK_BYTES / 2).toString('hex'); // the database cannot compress random data
      const row = { number: `check-${randomUUID()}`, key_id: '', request, created_at: '' };
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
