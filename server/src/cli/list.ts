/** Lists on standard output: an aligned table for people, or JSON for scripts. */

import { json, printable } from './values.ts';

export interface ListOptions {
  readonly json?: boolean;
}

/** The columns of a table by their headings. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number>>;

/** Prints the rows. A table without rows is nothing at all; as JSON it is an empty array. @param announce takes one line */
export function printList<Row>(
  rows: readonly Row[],
  columns: Columns<Row>,
  options: ListOptions,
  announce: (line: string) => void,
): void {
  if (options.json) announce(json(rows, 2));
  else if (rows.length > 0) for (const line of table(rows, columns)) announce(line);
}

function table<Row>(rows: readonly Row[], columns: Columns<Row>): readonly string[] {
  const values = Object.values(columns);
  const cells = [Object.keys(columns), ...rows.map((row) => values.map((value) => printable(String(value(row)))))];
  const widths = values.map((_value, index) => cells.reduce((most, row) => Math.max(most, widthOf(row[index])), 0));
  return cells.map((row) =>
    row
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell) + 2))
      .join('')
      .trimEnd(),
  );
}

/** In columns of a terminal: East Asian characters and emoji take two, combining marks none. */
function widthOf(text = ''): number {
  return [...text.replace(/\p{M}/gu, '')].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;
