/** What SQLite and PostgreSQL write differently: a table to select from, made of rows in one parameter. */

import { type RawBuilder, sql } from 'kysely';

/**
 * The statement's text is the same for any number of rows, so a database compiles it once. Members of the rows that are no
 * columns are left out.
 */
export type RowsTable = (
  rows: readonly Readonly<Record<string, string | null>>[],
  columns: readonly string[],
) => RawBuilder<unknown>;

/** https://www.sqlite.org/json1.html#jeach */
export const sqliteRows: RowsTable = (rows, columns) => {
  const members = columns.map((column) => sql`value ->> ${sql.lit(column)} as ${sql.ref(column)}`);
  return sql`(select ${sql.join(members)} from json_each(${JSON.stringify(rows)})) as given`;
};

/** PostgreSQL's documentation, section 9.16.1: JSON processing functions. */
export const postgresRows: RowsTable = (rows, columns) => {
  const members = columns.map((column) => sql`${sql.ref(column)} text`);
  return sql`json_to_recordset(${JSON.stringify(rows)}) as given (${sql.join(members)})`;
};
