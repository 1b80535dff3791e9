/** The store's signature records: their ids, reports on them, and search in bounded steps. */

import { randomUUID } from 'node:crypto';
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { ExpressionBuilder, Kysely } from 'kysely';
import { isStorable, type ReportStatus, type SignatureRecord, type Tables, toRecord } from './rows.ts';

/**
 * A UUID of version 7, so that indexes grow at one end (RFC 9562, section 5.7): milliseconds since 1970 in 48 bits, then the version, and what a random UUID has after its own.
 * 74 bits are random: knowing one id does not help to guess another.
 */
export function newRecordId(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Whether a text has the form of such an id: what else a caller sends in its place may be a secret. */
export function isRecordId(text: string): boolean {
  return /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(text);
}

export interface RecordFilter {
  readonly clientId?: string | undefined;
  readonly certificate?: string | undefined;
  /** Signed then or later. */
  readonly since?: Date | undefined;
  /** Signed before. */
  readonly until?: Date | undefined;
}

type Order = 'oldest first' | 'newest first';

/** Where a record stands in the order of signing. */
export type Position = Pick<SignatureRecord, 'id' | 'signedAt'>;

/** Some of the records that follow each other in the order of signing. */
export interface Batch {
  /** Those that fit, without their signatures. */
  readonly records: readonly SignatureRecord[];
  /** The last one looked at, fitting or not, where there may be more behind it. */
  readonly next: Position | undefined;
}

type Condition = ExpressionBuilder<Tables, 'records'>;

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
      filter: RecordFilter,
      { order, size, after }: { readonly order: Order; readonly size: number; readonly after?: Position | undefined },
    ): Promise<Batch> {
      const [ahead, direction] = order === 'oldest first' ? (['>', 'asc'] as const) : (['<', 'desc'] as const);
      // The index alone shows where the batch ends; only then its rows are read.
      const last = await database
        .selectFrom('records')
        .select(['signed_at', 'id'])
        .where((condition) => condition.and([...inTime(condition, filter), ...beyond(condition, ahead, after)]))
        .orderBy('signed_at', direction)
        .orderBy('id', direction)
        .offset(size - 1)
        .limit(1)
        .executeTakeFirst();
      const next = last && { signedAt: new Date(last.signed_at), id: last.id };
      const upTo = ahead === '>' ? '<=' : '>=';
      const rows = await database
        .selectFrom('records')
        .select(COLUMNS)
        .where((condition) =>
          condition.and([
            ...inTime(condition, filter),
            ...beyond(condition, ahead, after),
            ...beyond(condition, upTo, next),
            ...fitting(condition, filter),
          ]),
        )
        .orderBy('signed_at', direction)
        .orderBy('id', direction)
        .execute();
      return { records: rows.map((row) => toRecord({ ...row, signature: null })), next };
    },
  };
}

function inTime(condition: Condition, { since, until }: RecordFilter) {
  return [
    ...(since === undefined ? [] : [condition('signed_at', '>=', since.toISOString())]),
    ...(until === undefined ? [] : [condition('signed_at', '<', until.toISOString())]),
  ];
}

function beyond(condition: Condition, comparison: '>' | '<' | '>=' | '<=', position: Position | undefined) {
  if (position === undefined) return [];
  const { refTuple, tuple } = condition;
  return [condition(refTuple('signed_at', 'id'), comparison, tuple(position.signedAt.toISOString(), position.id))];
}

function fitting(condition: Condition, { clientId, certificate }: RecordFilter) {
  return [
    ...(clientId === undefined ? [] : [condition('client_id', '=', clientId)]),
    ...(certificate === undefined ? [] : [condition('certificate', '=', certificate)]),
  ];
}

/** Records in a batch, which takes the database some milliseconds. */
const BATCH = 2000;

/** All records that fit, in batches. */
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
