/** What SQLite and PostgreSQL write differently. */

import { type RawBuilder, sql } from 'kysely';

export type Row = Readonly<Record<string, string | null>>;

export interface RowDialect {
  /**
   * A table to select from, made of rows in one parameter: the statement's text is the same for any number of rows, so a
   * database compiles it once. Further members of the rows are left out.
   */
  rows(rows: readonly Row[], columns: readonly string[]): RawBuilder<unknown>;
  /** Whether a column's JSON list has the value of a member of the same rows. */
  listHas(list: string, value: RawBuilder<unknown>): RawBuilder<boolean>;
}

/** https://www.sqlite.org/json1.html#jeach */
export const SQLITE_ROWS: RowDialect = {
  rows(rows, columns) {
    const members = columns.map((column) => sql`value ->> ${sql.lit(column)} as ${sql.ref(column)}`);
    return sql`(select ${sql.join(members)} from json_each(${JSON.stringify(rows)})) as given`;
  },
  listHas: (list, value) => sql`exists (select 1 from json_each(${sql.ref(list)}) where value = ${value})`,
};

/** PostgreSQL's documentation, sections 9.16 and 9.16.1: JSON functions and operators. */
export const POSTGRES_ROWS: RowDialect = {
  rows(rows, columns) {
    const members = columns.map((column) => sql`${sql.ref(column)} text`);
    return sql`json_to_recordset(${JSON.stringify(rows)}) as given (${sql.join(members)})`;
  },
  listHas: (list, value) => sql`jsonb_exists(${sql.ref(list)}::jsonb, ${value})`,
};
