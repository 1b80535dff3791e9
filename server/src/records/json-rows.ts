/** Many rows as one parameter of a statement: its text is the same for any number of them, so a database compiles it once. */

import { type RawBuilder, sql } from 'kysely';

export type Row = Readonly<Record<string, string | null>>;

/** A table to select from, made of rows: their columns, each text or null. Rows may have further members, which are left out. */
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
