/** Escapes characters that control a terminal or reverse the direction of its text. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

export function json(value: unknown, indent?: number): string {
  return escapedJson(JSON.stringify(value, undefined, indent));
}

export function escapedJson(text: string): string {
  return text.replace(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, index) => escaped(character.charAt(index))).join(''),
  );
}

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

export interface ListOptions {
  readonly json?: boolean;
}

/** Text that a table shows in place of null. */
const ABSENT: Readonly<Record<string, string>> = {
  quota: 'none',
  left: 'unlimited',
  monthlyQuota: 'none',
  leftThisMonth: 'unlimited',
  expiresAt: 'never',
  certificates: 'all',
  algorithms: 'all',
};

/**
 * Prints the rows as an aligned table with their keys as headings, or as a JSON array. A table without rows prints
 * nothing.
 */
export function printList(
  rows: readonly Readonly<Record<string, unknown>>[],
  options: ListOptions,
  print: (line: string) => void,
): void {
  if (options.json) print(json(rows, 2));
  const [first] = rows;
  if (options.json || first === undefined) return;
  const headings = Object.keys(first).map((key) => key.replace(/[A-Z]/g, ' $&').toUpperCase());
  const cells = [headings, ...rows.map((row) => Object.entries(row).map(([key, value]) => cellOf(key, value)))];
  const widths = headings.map((_heading, column) =>
    cells.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0),
  );
  for (const row of cells) {
    print(
      row
        .map((cell, column) => cell.padEnd((widths[column] ?? 0) + 2))
        .join('')
        .trimEnd(),
    );
  }
}

function cellOf(key: string, value: unknown): string {
  if (value === null || value === undefined) return ABSENT[key] ?? '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return printable(
    value instanceof Date ? value.toISOString() : Array.isArray(value) ? value.join(',') : String(value),
  );
}
