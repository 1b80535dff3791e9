/** The fault matrix as the table of test/README.md, made of what was observed. */

import type { Seen } from './matrix.ts';
import type { Row } from './row.ts';
import { FORMAT_IDS, type FormatId } from './stage.ts';

const BEGINNING = '<!-- faults: made by test/system/faults/faults.long.test.ts -->';
const END = '<!-- end of faults -->';

const HEAD = [
  '| step | what goes wrong | how, in | exit code, error | requests, counted | the file | `resume` | the file | `sign` again | counted in all |',
  '|---|---|---|---|---|---|---|---|---|---|',
];

const EFFECTS: Readonly<Record<string, string>> = { '-': '', fill: 'no room', 'clock-back': '' };

function nameOfFormat(format: FormatId): string {
  return format.toUpperCase();
}

/** One line for all cases of a row. Throws when they did not all go the same way. */
export function lineOf(row: Row, seen: readonly Seen[]): string {
  const [first] = seen;
  if (first === undefined) throw new Error(`nothing was observed of: ${row.step}, ${row.fault}`);
  const { observed } = first;
  const courses = new Set(seen.map((one) => JSON.stringify({ ...one.observed, error: undefined })));
  if (courses.size > 1) throw new Error(`cases differ in: ${row.step}, ${row.fault}`);
  const effects = Object.keys(row.variants).map((effect) => EFFECTS[effect] ?? effect);
  const how = [
    effects.filter((word) => word !== '').join(', '),
    row.formats === FORMAT_IDS ? 'all formats' : new Intl.ListFormat('en-GB').format(row.formats.map(nameOfFormat)),
  ];
  const errors = [...new Set(Object.values(row.variants).filter((code) => code !== null))];
  const cells = [
    row.step,
    row.fault,
    how.filter((word) => word !== '').join('; '),
    [observed.exit, ...errors.map((code) => `\`${code}\``)].join(', '),
    `${observed.asked}, ${observed.counted}`,
    observed.file,
    observed.resume,
    observed.afterResume,
    observed.again,
    observed.total,
  ];
  return `| ${cells.join(' | ')} |`;
}

export function tableOf(rows: readonly Row[], seen: readonly Seen[]): string {
  const lines = rows.map((row) =>
    lineOf(
      row,
      seen.filter((one) => one.row === row),
    ),
  );
  return [...HEAD, ...lines].join('\n');
}

export function withTable(document: string, table: string): string {
  const start = document.indexOf(BEGINNING);
  const end = document.indexOf(END);
  if (start < 0 || end < start) throw new Error('the document has no place for the table');
  return `${document.slice(0, start + BEGINNING.length)}\n\n${table}\n\n${document.slice(end)}`;
}
