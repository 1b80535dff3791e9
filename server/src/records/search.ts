/** The store's ways to look through many records beside signing: a bounded stretch of them at a time, and days in sums. */

import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { printable } from '../cli/values.ts';
import { maskExtra } from './mask-extra.ts';
import { toRecord } from './rows.ts';
import type { Position, RecordFilter, ReportStatus, SearchFilter, SignatureRecord, Store } from './store.ts';
import type { Tables } from './tables.ts';

type Condition = ExpressionBuilder<Tables, 'records'>;

/** All but the signature, which is longer than all the others together. */
const COLUMNS = [
  ...(['id', 'client_id', 'certificate', 'algorithm', 'digest', 'extra', 'signed_at', 'counted'] as const),
  ...(['report_status', 'reported_at'] as const),
];

export function searchOf(database: Kysely<Tables>): Pick<Store['records'], 'search' | 'perDay'> {
  return {
    async search(filter, { order, size, after }) {
      const [ahead, direction] = order === 'oldest first' ? (['>', 'asc'] as const) : (['<', 'desc'] as const);
      // The index alone tells where the stretch ends; only then its rows are read.
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
