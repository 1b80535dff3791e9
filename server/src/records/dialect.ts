/** SQL that differs between SQLite and PostgreSQL. */

import { type RawBuilder, sql } from 'kysely';

/** The SQL text is the same for any number of rows, so that the database compiles it only once. */
export type RowsTable = (
  rows: readonly Readonly<Record<string, string | null>>[],
  columns: readonly string[],
) => RawBuilder<unknown>;

export interface Syntax {
  /** Builds a table expression for `from`. All its rows are passed in one parameter. */
  readonly rowsTable: RowsTable;
  /** The current month (UTC) by the database's clock, for example 2030-12. */
  readonly month: RawBuilder<string>;
}

export const SQLITE: Syntax = {
  /** See https://www.sqlite.org/json1.html#jeach. */
  rowsTable(rows, columns) {
    const members = columns.map((column) => sql`value ->> ${sql.lit(column)} as ${sql.ref(column)}`);
    return sql`(select ${sql.join(members)} from json_each(${JSON.stringify(rows)})) as given`;
  },
  month: sql`strftime('%Y-%m', 'now')`,
};

export const POSTGRES: Syntax = {
  /** See PostgreSQL's documentation, section 9.16.1: JSON processing functions. */
  rowsTable(rows, columns) {
    const members = columns.map((column) => sql`${sql.ref(column)} text`);
    return sql`json_to_recordset(${JSON.stringify(rows)}) as given (${sql.join(members)})`;
  },
  month: sql`to_char(now() at time zone 'utc', 'YYYY-MM')`,
};
