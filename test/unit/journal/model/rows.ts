/** The tables of the journal in memory: copied out and put back, so that every state can be continued in every way. */

import { openDatabase, type Value } from '../../../../src/journal/driver.ts';
import { SCHEMA } from '../../../../src/journal/schema.ts';

export type Memory = ReturnType<typeof openMemory>;

/** Numbers in the order of events; of `ended` counts only that it is set. */
const NUMBERS: Readonly<Record<string, readonly string[]>> = { runs: ['began'], calls: ['settled'] };
const WITHOUT_MEANING: Readonly<Record<string, readonly string[]>> = {
  runs: ['active_at'],
  counter: ['value'],
};

export function openMemory() {
  const db = openDatabase(':memory:');
  // Each row is put back by its number.
  db.exec(SCHEMA.replaceAll(/, without rowid| autoincrement/g, ''));
  // Tables are put back one by one.
  db.exec('pragma foreign_keys = off');
  const namesIn = (sql: string, ...values: readonly string[]) => db.all(sql, ...values).map(({ name }) => String(name));
  const tables = namesIn("select name from sqlite_master where type = 'table'");
  const columns = new Map(tables.map((table) => [table, namesIn('select name from pragma_table_info(?)', table)]));
  const columnsOf = (table: string): readonly string[] => columns.get(table) ?? [];
  const listOf = (table: string): string =>
    `'${table}', (select json_group_array(json_array(rowid, ${columnsOf(table).join(', ')})) from ${table}) || ''`;
  const saving = `select json_object(${tables.map(listOf).join(', ')}) as text`;

  const putBack = (table: string): string => {
    const names = ['rowid', ...columnsOf(table)];
    const values = names.map((_, index) => `value ->> ${index}`);
    return `insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from json_each(?)`;
  };

  let now = '{}';
  let changes = -1;
  const countChanges = (): number => Number(db.get('select total_changes() as total')?.total);
  const read = (text: string) => JSON.parse(text) as Record<string, string>;
  return {
    db,
    /** All rows, as text. */
    save(): string {
      if (countChanges() !== changes) now = String(db.get(saving)?.text);
      changes = countChanges();
      return now;
    },
    /** After `save`. */
    restore(text: string): void {
      const [before, after] = [read(now), read(text)];
      for (const [table, rows = ''] of Object.entries(after)) {
        if (rows === before[table]) continue;
        db.run(`delete from ${table}`);
        db.run(putBack(table), rows);
      }
      now = text;
      changes = countChanges();
    },
    /** All rows, where only the order of events counts: text that is equal in states that go on in the same way. */
    essence(): string {
      const tablesNow = Object.entries(read(now)).map(([table, rows]) => [table, JSON.parse(rows)]);
      const all = Object.fromEntries(tablesNow) as Record<string, Value[][]>;
      const numbers = new Set<number>();
      const each = (kind: typeof NUMBERS, change: (row: Value[], index: number) => void): void => {
        for (const [table, names] of Object.entries(kind)) {
          const places = names.map((name) => columnsOf(table).indexOf(name) + 1);
          for (const row of all[table] ?? []) for (const place of places) change(row, place);
        }
      };
      each(NUMBERS, (row, place) => numbers.add(Number(row[place])));
      const ranks = new Map([...numbers].sort((one, other) => one - other).map((number, rank) => [number, rank]));
      each(NUMBERS, (row, place) => {
        if (row[place] !== null) row[place] = ranks.get(Number(row[place])) ?? 0;
      });
      each(WITHOUT_MEANING, (row, place) => {
        row[place] = 0;
      });
      each({ runs: ['ended'] }, (row, place) => {
        row[place] = row[place] === null ? 0 : 1;
      });
      return JSON.stringify(all);
    },
  };
}
