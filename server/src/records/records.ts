import { randomUUID } from 'node:crypto';
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { isStorable, type ReportStatus, type SignatureRecord, type Tables, toRecord } from './rows.ts';

/** Creates a UUID of version 7 (RFC 9562, section 5.7). Such ids increase with time, so indexes grow only at one end. */
export function newRecordId(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** A text that is not a record id may be a secret, which must not be logged. */
export function isRecordId(text: string): boolean {
  return /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(text);
}

export interface Period {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

export interface RecordFilter extends Period {
  readonly clientId?: string | undefined;
  readonly certificate?: string | undefined;
}

type Order = 'oldest first' | 'newest first';

/** All columns except the signature, which is longer than the other columns together. */
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
    /** Removes the oldest records before a given time. @returns the number of removed records */
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
    /** A later report replaces an earlier one. @returns undefined if this client has no record with this id */
    async report(id: string, clientId: string, status: ReportStatus, at: Date): Promise<SignatureRecord | undefined> {
      if (!isStorable(id)) return undefined;
      // With SQLite, only BEGIN waits for other writers on a separate thread.
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
    /** @param after the last record that an earlier call returned */
    async search(
      { since, until }: Period,
      order: Order,
      size: number,
      after?: SignatureRecord,
    ): Promise<readonly SignatureRecord[]> {
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
      return rows.map((row) => toRecord({ ...row, signature: null }));
    },
  };
}

const BATCH = 2000;

/** The database has no index for clients and certificates, so this function filters the records. */
export async function* batches(
  records: Pick<ReturnType<typeof recordsOf>, 'search'>,
  { clientId, certificate, ...period }: RecordFilter,
  order: Order,
): AsyncGenerator<readonly SignatureRecord[]> {
  let examined: readonly SignatureRecord[];
  let after: SignatureRecord | undefined;
  do {
    examined = await records.search(period, order, BATCH, after);
    yield examined.filter(
      (record) =>
        (clientId ?? record.clientId) === record.clientId && (certificate ?? record.certificate) === record.certificate,
    );
    after = examined.at(-1);
    await othersTurn();
  } while (examined.length === BATCH);
}
