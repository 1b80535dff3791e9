import { randomUUID } from 'node:crypto';
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { isStorable, type ReportStatus, type SignatureRecord, type Tables, toRecord } from './rows.ts';

/**
 * Creates a UUID of version 7 (RFC 9562, section 5.7). Such ids increase with time, so indexes grow only at one end. An
 * id has 48 bits of milliseconds since 1970 and 74 random bits, so that one id does not help to guess another.
 */
export function newRecordId(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Checks the form of an id, because any other text may be a secret that must not be logged. */
export function isRecordId(text: string): boolean {
  return /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(text);
}

export interface RecordFilter {
  readonly clientId?: string | undefined;
  readonly certificate?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

type Order = 'oldest first' | 'newest first';

export type Position = Pick<SignatureRecord, 'id' | 'signedAt'>;

export interface Batch {
  readonly records: readonly SignatureRecord[];
  /** Position of the last examined record, whether it matched or not. undefined if there are no more records. */
  readonly next: Position | undefined;
}

/** All columns except the signature, which is longer than all other columns together. */
const COLUMNS = [
  ...(['id', 'client_id', 'certificate', 'algorithm', 'digest', 'extra', 'signed_at', 'counted'] as const),
  ...(['report_status', 'reported_at'] as const),
];

export function recordsOf(database: Kysely<Tables>) {
  return {
    async find(id: string): Promise<SignatureRecord | undefined> {
      if (!isStorable(id)) return undefined;
      const row = await database.selectFrom('records').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toRecord(row);
    },
    /**
     * Removes records that are older than a given time, oldest first. The clients' counts do not change. @param most
     * limit on the number of records, because signature requests wait for this call
     * @returns the number of removed records
     */
    async prune(before: Date, most: number): Promise<number> {
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
    /**
     * Stores a client's report; a later report replaces an earlier one. @returns the record, or undefined if this
     * client has no record with this id
     */
    async report(id: string, clientId: string, status: ReportStatus, at: Date): Promise<SignatureRecord | undefined> {
      if (!isStorable(id)) return undefined;
      // Uses a transaction, because in SQLite only BEGIN waits, on another thread, until no other process writes.
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
    /** Examines only a limited number of records, because signature requests use the same database. */
    async search(
      { clientId, certificate, since, until }: RecordFilter,
      { order, size, after }: { readonly order: Order; readonly size: number; readonly after?: Position | undefined },
    ): Promise<Batch> {
      const [ahead, direction] = order === 'oldest first' ? (['>', 'asc'] as const) : (['<', 'desc'] as const);
      let query = database.selectFrom('records').select(COLUMNS);
      if (since !== undefined) query = query.where('signed_at', '>=', since.toISOString());
      if (until !== undefined) query = query.where('signed_at', '<', until.toISOString());
      if (after !== undefined) {
        query = query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('signed_at', 'id'), ahead, tuple(after.signedAt.toISOString(), after.id)),
        );
      }
      const rows = await query.orderBy('signed_at', direction).orderBy('id', direction).limit(size).execute();
      const looked = rows.map((row) => toRecord({ ...row, signature: null }));
      const isWanted = (record: SignatureRecord) =>
        (clientId === undefined || record.clientId === clientId) &&
        (certificate === undefined || record.certificate === certificate);
      return { records: looked.filter(isWanted), next: looked.length < size ? undefined : looked.at(-1) };
    },
  };
}

/** Number of records in a batch. The database needs a few milliseconds for one batch. */
const BATCH = 2000;

export async function* batches(
  records: Pick<ReturnType<typeof recordsOf>, 'search'>,
  filter: RecordFilter,
  order: Order,
): AsyncGenerator<readonly SignatureRecord[]> {
  let after: Position | undefined;
  do {
    const batch = await records.search(filter, { order, size: BATCH, after });
    yield batch.records;
    after = batch.next;
    await othersTurn();
  } while (after !== undefined);
}
