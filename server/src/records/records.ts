/** The store's signature records: their ids, reports on them, and search in bounded steps. */

import { randomUUID } from 'node:crypto';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { printable } from '../text.ts';
import type { Step } from './quota.ts';
import { isStorable, type Tables, toRecord } from './rows.ts';
import { maskExtra } from './shown.ts';
import type { Batch, Position, RecordFilter, ReportStatus, SearchFilter, SignatureRecord, Store } from './store.ts';

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

type Condition = ExpressionBuilder<Tables, 'records'>;

/** All but the signature, which is longer than all the others together. */
const COLUMNS = [
  ...(['id', 'client_id', 'certificate', 'algorithm', 'digest', 'extra', 'signed_at', 'counted'] as const),
  ...(['report_status', 'reported_at'] as const),
];

export function recordsOf(database: Kysely<Tables>, take: (step: Step) => Promise<boolean>): Store['records'] {
  return {
    add: (record, lease) => take({ lease, record }),
    async find(id) {
      if (!isStorable(id)) return undefined;
      const row = await database.selectFrom('records').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toRecord(row);
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
    async search(filter, { order, size, after }) {
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
      const records = rows.map((row) => toRecord({ ...row, signature: null }));
      const wanted = filter.file?.toLowerCase() ?? '';
      const name = (record: SignatureRecord) => printable(maskExtra(record.extra)?.signing_filename ?? '');
      return { records: records.filter((record) => name(record).toLowerCase().includes(wanted)), next };
    },
    async perDay(since, until) {
      const rows = await database
        .selectFrom('records')
        .select([
          sql<string>`substr(signed_at, 1, 10)`.as('day'),
          'counted',
          'report_status',
          sql<number | string>`count(*)`.as('signatures'), // PostgreSQL's driver gives its large integers as text
        ])
        .where((condition) => condition.and(inTime(condition, { since, until })))
        .groupBy(['day', 'counted', 'report_status'])
        .orderBy('day')
        .execute();
      return rows.map((row) => ({
        day: row.day,
        counted: row.counted === 1,
        report: (row.report_status ?? undefined) as ReportStatus | undefined,
        signatures: Number(row.signatures),
      }));
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

function fitting(condition: Condition, { clientId, certificate, report, file, id, digest }: SearchFilter) {
  return [
    ...(id === undefined ? [] : [begins('id', id)]),
    ...(digest === undefined ? [] : [begins('digest', digest)]),
    ...(clientId === undefined ? [] : [condition('client_id', '=', clientId)]),
    ...(certificate === undefined ? [] : [condition('certificate', '=', certificate)]),
    ...(report === undefined
      ? []
      : [report === 'none' ? condition('report_status', 'is', null) : condition('report_status', '=', report)]),
    ...(file === undefined ? [] : [mayHoldName(condition, file)]),
  ];
}

function begins(column: 'id' | 'digest', text: string) {
  return sql<boolean>`substr(${sql.ref(column)}, 1, ${sql.lit(text.length)}) = ${text}`;
}

/**
 * Spares most rows their way out of the database: JSON holds plain letters as they are. The name itself is looked at
 * afterwards. What follows a backslash may be a sign that is written out, and no letters at all.
 */
function mayHoldName(condition: Condition, file: string) {
  const plain = file.includes('\\') ? '' : (/[\w .-]+/.exec(file)?.[0] ?? '');
  const pattern = `%${plain.toLowerCase().replaceAll('_', '\\_')}%`;
  return condition.and([condition('extra', 'is not', null), sql<boolean>`lower(extra) like ${pattern} escape '\\'`]);
}

/** Records in the largest batch, which takes the database some milliseconds. */
const LONGEST = 2000;
/** Factor between one batch and the next: if few records match, larger batches find them sooner. */
const GROWTH = 4;

export type Search = Pick<Store['records'], 'search'>;

/** Records from a position to the end, in batches. @param first number of records in the first batch */
export async function* batches(
  records: Search,
  filter: SearchFilter,
  { order, after }: { readonly order: 'oldest first' | 'newest first'; readonly after: Position | undefined },
  first = LONGEST,
): AsyncGenerator<Batch & { readonly size: number }> {
  let from: Position | undefined = after;
  for (let size = first; ; size = Math.min(size * GROWTH, LONGEST)) {
    const batch = await records.search(filter, { order, size, after: from });
    yield { ...batch, size };
    if (batch.next === undefined) return;
    from = batch.next;
    await othersTurn();
  }
}
