/** The tables of the journal in memory: copied out and put back, so that every state can be continued in every way. */

import { type Database, openDatabase, type Value } from '../../../../src/journal/driver.ts';
import { SCHEMA } from '../../../../src/journal/schema.ts';

type Rows = readonly (readonly Value[])[];
/** Of each table, its rows, which begin with the rowid. */
type Tables = Readonly<Record<string, Rows>>;

export interface Memory {
  readonly db: Database;
  /** All rows, as text. */
  save(): string;
  /** After `save`. */
  restore(text: string): void;
  /** All rows, where only the order of events counts: text that is equal in states that go on in the same way. */
  essence(): string;
}

/** Numbers in the order of events; of `ended` counts only that it is set. */
const NUMBERS: Readonly<Record<string, readonly string[]>> = { runs: ['began'], calls: ['settled'] };
const WITHOUT_MEANING: Readonly<Record<string, readonly string[]>> = {
  runs: ['active_at'],
  counter: ['value'],
};

export function openMemory(): Memory {
  const db = openDatabase(':memory:');
  // Each row is put back by its number.
  db.exec(SCHEMA.replaceAll(/, without rowid| autoincrement/g, ''));
  // Rows are put back one by one.
  db.exec('pragma foreign_keys = off');
  const tables = db.all("select name from sqlite_master where type = 'table'").map(({ name }) => String(name));
  const columns = new Map(
    tables.map((table) => [
      table,
      db.all('select name from pragma_table_info(?)', table).map(({ name }) => String(name)),
    ]),
  );
  const columnsOf = (table: string): readonly string[] => columns.get(table) ?? [];
  const listOf = (table: string): string =>
    `'${table}', (select json_group_array(json_array(rowid, ${columnsOf(table).join(', ')})) from ${table})`;
  const saving = `select json_object(${tables.map(listOf).join(', ')}) as text`;

  let now = '';
  let changes = -1;
  const save = (): string => {
    const { total } = db.get('select total_changes() as total') ?? {};
    if (total !== changes) now = String(db.get(saving)?.text);
    changes = Number(total);
    return now;
  };

  function put(table: string, before: Rows, after: Rows): void {
    const old = new Map(before.map((row) => [row[0], JSON.stringify(row)]));
    const changed = after.filter((row) => old.get(row[0] ?? null) !== JSON.stringify(row));
    const kept = new Set(after.map(([id]) => id));
    for (const row of changed) if (old.has(row[0] ?? null)) kept.delete(row[0]);
    for (const [id = null] of before) if (!kept.has(id)) db.run(`delete from ${table} where rowid = ?`, id);
    const names = ['rowid', ...columnsOf(table)];
    const insert = `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`;
    for (const row of changed) db.run(insert, ...row);
  }

  return {
    db,
    save,
    restore(text) {
      if (text === now) return;
      const current = now;
      now = text;
      const before = JSON.parse(current) as Tables;
      const after = JSON.parse(text) as Tables;
      for (const table of tables) put(table, before[table] ?? [], after[table] ?? []);
      changes = Number(db.get('select total_changes() as total')?.total);
    },
    essence() {
      const all = JSON.parse(now) as Record<string, Value[][]>;
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
