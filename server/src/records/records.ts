import { randomUUID } from 'node:crypto';
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { isStorable, type ReportStatus, type SignatureRecord, type Tables, toRecord } from './rows.ts';

/**
 * A UUID of version 7, so that indexes grow at one end (RFC 9562, section 5.7): milliseconds since 1970 in 48 bits, then the version, and what a random UUID has after its own.
 * 74 bits are random: knowing one id does not help to guess another.
 */
export function newRecordId(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Checks only the form of an id: another text that a caller sends in its place may be a secret. */
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

/** Where a record stands in the order of signing. */
export type Position = Pick<SignatureRecord, 'id' | 'signedAt'>;

/** Some of the records that follow each other in the order of signing. */
export interface Batch {
  /** Matching records, without their signatures. */
  readonly records: readonly SignatureRecord[];
  /** The last one looked at, fitting or not, where there may be more behind it. */
  readonly next: Position | undefined;
}

/** All but the signature, which is longer than all the others together. */
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
    /** Removes the oldest records that were signed before a time; what is counted stays. @param most records of one call, since signatures wait for it @returns how many */
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
    /** Stores a report for this client's record; the latest one counts. @returns the record, or undefined if the client has no record with this id */
    async report(id: string, clientId: string, status: ReportStatus, at: Date): Promise<SignatureRecord | undefined> {
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
    /**
     * Looks at the next so many records, and gives those that fit: whatever is looked for, no call takes longer than
     * that, since signatures wait for the same database.
     */
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

/** Records in a batch, which takes the database some milliseconds. */
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
