/** `--help` laid out for the terminal that it is read on: commander's own layout knows of no narrow ones. */

import type { Writable } from 'node:stream';
import type { Help } from 'commander';
import { columnsOf } from './terminal.ts';

/** For pipes, and for terminals that are wider: longer lines are hard to read. */
const MOST_COLUMNS = 100;
/** Fewer have no room for words; the terminal then breaks the lines. */
const LEAST_COLUMNS = 30;
/** A description needs so many beside its term; else it stands below. */
const LEAST_BESIDE = 40;

export function helpColumns(stdout: Writable): number {
  const columns = columnsOf(stdout);
  return columns < LEAST_COLUMNS ? MOST_COLUMNS : Math.min(columns, MOST_COLUMNS);
}

/** As commander does it where there is room; elsewhere the description stands below its term. */
export function formatItem(term: string, termWidth: number, description: string, { helpWidth }: Help): string {
  const columns = helpWidth ?? MOST_COLUMNS;
  const beside = `  ${term.padEnd(termWidth)}  `;
  if (description === '') return beside.trimEnd();
  if (columns - beside.length >= LEAST_BESIDE) return hung(beside, description, columns);
  return `  ${term}\n${hung(' '.repeat(6), description, columns)}`;
}

/** Paragraphs at the margin that are too wide are wrapped anew; indented lines, such as examples to be copied, stay. */
export function wrapHelp(text: string, columns: number): string {
  return text.replace(/^\S.*(?:\n\S.*)*/gm, (paragraph) => {
    const fits = paragraph.split('\n').every((line) => line.length <= columns);
    return fits ? paragraph : hung('', paragraph.replaceAll('\n', ' '), columns);
  });
}

/** `lead` with the text behind it, further lines below the text. */
function hung(lead: string, text: string, columns: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && lead.length + line.length + 1 + word.length > columns) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return lead + [...lines, line].join(`\n${' '.repeat(lead.length)}`);
}
