/** Text for terminals: control and direction characters are escaped, lists become tables or JSON. */

/** Escapes characters that control a terminal or reverse the direction of its text. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** JSON in which these characters are escaped too. */
export function json(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, index) => escaped(character.charAt(index))).join(''),
  );
}

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

export interface ListOptions {
  readonly json?: boolean;
}

/** The columns of a table by their headings. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number>>;

/** Prints the rows as an aligned table, or as a JSON array. A table without rows prints nothing. @param print takes one line */
export function printList<Row>(
  rows: readonly Row[],
  columns: Columns<Row>,
  options: ListOptions,
  print: (line: string) => void,
): void {
  if (options.json) {
    print(json(rows, 2));
    return;
  }
  if (rows.length === 0) return;
  const values = Object.values(columns);
  const cells = [Object.keys(columns), ...rows.map((row) => values.map((value) => printable(String(value(row)))))];
  const widths = values.map((_value, index) => cells.reduce((most, row) => Math.max(most, widthOf(row[index])), 0));
  for (const row of cells) {
    const padded = row.map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell) + 2));
    print(padded.join('').trimEnd());
  }
}

/** Columns on a terminal: East Asian characters and emoji take two, combining marks none. */
function widthOf(text = ''): number {
  return [...text.replace(/\p{M}/gu, '')].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;
