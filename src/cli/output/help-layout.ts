/** Layout of `--help` for narrow terminals too, which commander does not support. */

import type { Writable } from 'node:stream';
import type { Help } from 'commander';
import { columnsOf } from './terminal.ts';
import { hang, padded, widthOf } from './text-layout.ts';

/** For pipes and wide terminals: longer lines are hard to read. */
const MOST_COLUMNS = 100;
/** A narrower terminal wraps the lines itself. */
const LEAST_COLUMNS = 30;
/** Columns that a description needs next to its term; with fewer it stands below. */
const LEAST_DESCRIPTION = 40;

export function helpColumns(stdout: Writable): number {
  const columns = columnsOf(stdout);
  return columns < LEAST_COLUMNS ? MOST_COLUMNS : Math.min(columns, MOST_COLUMNS);
}

/** Commander's layout if there is enough space; with less, the description stands below its term. */
export function formatItem(term: string, termWidth: number, description: string, { helpWidth }: Help): string {
  const columns = helpWidth ?? MOST_COLUMNS;
  const lead = `  ${padded(term, termWidth)}  `;
  const indent = widthOf(lead);
  if (description === '') return lead.trimEnd();
  if (columns - indent >= LEAST_DESCRIPTION) return hang(lead, description, indent, columns).join('\n');
  return [`  ${term}`, ...hang(' '.repeat(6), description, 6, columns)].join('\n');
}

/** Wraps paragraphs at the margin that are too wide. Indented lines, such as examples to copy, stay. */
export function wrapHelp(text: string, columns: number): string {
  return text.replace(/^\S.*(?:\n\S.*)*/gm, (paragraph) => {
    const fits = paragraph.split('\n').every((line) => widthOf(line) <= columns);
    return fits ? paragraph : hang('', paragraph.replaceAll('\n', ' '), 0, columns).join('\n');
  });
}
