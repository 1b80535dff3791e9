/**
 * The first and the third step of counting, for all calls that are at one of them together: one transaction, one flush.
 * It takes clients in the order of their ids, and locks each one's row by changing it before it touches that client's
 * places (see quota.ts): so no two transactions wait for each other, and none checks a quota against what another is
 * about to change.
 */

import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { changeQuota, type NewRecord, type QuotaChange, removeExpired, type Step } from './quota.ts';
import { RECORD_COLUMNS, type Tables, toRecordRow } from './rows.ts';

type Row = Readonly<Record<string, string | null>>;

/**
 * A table to select from, made of rows in one parameter: the statement's text is the same for any number of rows, so a
 * database compiles it once. Further members of the rows are left out.
 */
export type RowsTable = (rows: readonly Row[], columns: readonly string[]) => RawBuilder<unknown>;

/** https://www.sqlite.org/json1.html#jeach */
export const sqliteRows: RowsTable = (rows, columns) => {
  const members = columns.map((column) => sql`value ->> ${sql.lit(column)} as ${sql.ref(column)}`);
  return sql`(select ${sql.join(members)} from json_each(${JSON.stringify(rows)}))`;
};

/** PostgreSQL's documentation, section 9.16.1: JSON processing functions. */
export const postgresRows: RowsTable = (rows, columns) => {
  const members = columns.map((column) => sql`${sql.ref(column)} text`);
  return sql`json_to_recordset(${JSON.stringify(rows)}) as given (${sql.join(members)})`;
};

/** Where steps are taken, and how rows are given to that database. */
interface Writing {
  readonly transaction: Transaction<Tables>;
  readonly rowsTable: RowsTable;
}
type Reserving = Extract<Step, { readonly now: Date }>;
type Counting = Extract<Step, { readonly record: NewRecord }>;

/** Runs all steps, or none if it rejects. @returns for each step whether the quota was sufficient */
export async function takeSteps(
  database: Kysely<Tables>,
  rowsTable: RowsTable,
  steps: readonly Step[],
): Promise<readonly boolean[]> {
  return await database.transaction().execute(async (transaction) => {
    const writing = { transaction, rowsTable };
    const reserved: Reserving[] = [];
    const counted: Counting[] = [];
    for (const clientId of [...new Set(steps.map(({ lease }) => lease.clientId))].sort()) {
      const own = steps.filter(({ lease }) => lease.clientId === clientId);
      const [reserving, counting] = [own.filter(isReserving), own.filter(isCounting)];
      const places = await takeSlots(writing, clientId, reserving, counting);
      for (const step of reserving.slice(0, places.reserved)) reserved.push(step);
      for (const step of places.counted) counted.push(step);
    }
    if (reserved.length > 0) await keepLeases(writing, reserved);
    if (counted.length > 0) await keepRecords(writing, counted);
    const done = new Set<Step>([...reserved, ...counted]);
    return steps.map((step) => done.has(step));
  });
}

const isReserving = (step: Step): step is Reserving => 'now' in step;
const isCounting = (step: Step): step is Counting => 'record' in step;

/** @returns for how many of those that reserve there was a place, and which of the others can be counted */
async function takeSlots(
  writing: Writing,
  clientId: string,
  reserving: readonly Reserving[],
  counting: readonly Counting[],
): Promise<{ readonly reserved: number; readonly counted: readonly Counting[] }> {
  const { transaction } = writing;
  const change = (places: QuotaChange) => changeQuota(transaction, clientId, places);
  const turned = { signatures: counting.length, reserved: -counting.length };
  const enough = await changeQuota(transaction, clientId, turned, reserving.length);
  if (!enough) await change(turned);
  const removed = await removeLeases(writing, counting);
  const counted = counting.filter(({ lease }) => removed.has(lease.id));
  const late = counting.filter(({ lease }) => !removed.has(lease.id));
  if (enough && late.length === 0) return { reserved: reserving.length, counted };

  // Rare: the quota is nearly used up, or leases expired before their calls came this far. What was taken off for those
  // goes back first; then places are given out one by one, as far as they go.
  await change({ signatures: -late.length, reserved: late.length });
  if (!enough) await removeExpired(transaction, clientId, latest(reserving));
  const left = await quotaLeft(transaction, clientId);
  const again = late.slice(0, left);
  const reserved = enough ? reserving.length : Math.min(reserving.length, left - again.length);
  await change({ signatures: again.length, reserved: enough ? 0 : reserved });
  return { reserved, counted: [...counted, ...again] };
}

function latest(reserving: readonly Reserving[]): Date {
  return new Date(reserving.reduce((last, { now }) => Math.max(last, now.getTime()), Number.NEGATIVE_INFINITY));
}

async function quotaLeft(transaction: Transaction<Tables>, clientId: string): Promise<number> {
  const client = await transaction
    .selectFrom('clients')
    .select(['signatures', 'reserved', 'quota'])
    .where('id', '=', clientId)
    .executeTakeFirst();
  if (client === undefined) return 0;
  const { signatures, reserved, quota } = client;
  return quota === null ? Number.POSITIVE_INFINITY : Math.max(0, quota - signatures - reserved);
}

/** @returns the ids of those that were there */
async function removeLeases(
  { transaction, rowsTable }: Writing,
  counting: readonly Counting[],
): Promise<ReadonlySet<string>> {
  if (counting.length === 0) return new Set();
  const ids = rowsTable(
    counting.map(({ lease: { id } }) => ({ id })),
    ['id'],
  );
  const remove = sql<{ id: string }>`delete from leases where id in (select id from ${ids}) returning id`;
  const { rows } = await remove.execute(transaction);
  return new Set(rows.map(({ id }) => id));
}

async function keepLeases(writing: Writing, reserved: readonly Reserving[]): Promise<void> {
  const rows = reserved.map(({ lease }) => ({
    id: lease.id,
    client_id: lease.clientId,
    expires_at: lease.expiresAt.toISOString(),
  }));
  await insert(writing, 'leases', rows, ['id', 'client_id', 'expires_at']);
}

async function keepRecords(writing: Writing, counted: readonly Counting[]): Promise<void> {
  const rows = counted.map(({ record }) => toRecordRow(record));
  await insert(writing, 'records', rows, RECORD_COLUMNS);
}

async function insert(
  { transaction, rowsTable }: Writing,
  table: keyof Tables,
  rows: readonly Row[],
  columns: readonly string[],
): Promise<void> {
  const names = sql.join(columns.map((column) => sql.ref(column)));
  await sql`insert into ${sql.table(table)} (${names}) select ${names} from ${rowsTable(rows, columns)}`.execute(
    transaction,
  );
}
