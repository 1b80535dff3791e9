/** The table that GitHub Actions shows on a job's page: Markdown, appended to the file that GITHUB_STEP_SUMMARY names. */

import { appendFileSync, statSync } from 'node:fs';
import { printable } from '../../errors/printable.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { hasAnnotations } from './annotations.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface SummaryTable {
  readonly heading: string;
  readonly columns: readonly string[];
  /** Text from outside as it came; escaped here. */
  readonly rows: readonly (readonly string[])[];
  /** In one line, below the table. */
  readonly total: string;
}

/** What GitHub takes of one step: more, and it shows nothing. */
const LARGEST_SUMMARY = 1024 * 1024;
const CELL_LENGTH = 500;
/** For the line that says what was left out. */
const ROOM_FOR_REST = 200;

/** Writes the table if there is a job to write it for. Gives a whole sentence when that failed: no run fails for it. */
export function tellJobSummary(table: SummaryTable, env: Env): string | undefined {
  const path = env.GITHUB_STEP_SUMMARY;
  if (!hasAnnotations(env) || !path) return undefined;
  try {
    const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    const text = summaryMarkdown(table, LARGEST_SUMMARY - size);
    if (text !== '') appendFileSync(path, text);
    return undefined;
  } catch (thrown) {
    return `The job summary could not be written (${systemReason(thrown)}).`;
  }
}

/** As many rows as fit into `room` bytes; nothing where not even the heading fits. */
export function summaryMarkdown({ heading, columns, rows, total }: SummaryTable, room: number): string {
  const head = `### ${cell(heading)}\n\n${row(columns.map(cell))}${row(columns.map(() => '---'))}`;
  const foot = `\n${cell(total)}\n`;
  let left = room - Buffer.byteLength(head) - Buffer.byteLength(foot) - ROOM_FOR_REST;
  if (left < 0) return '';
  const kept: string[] = [];
  for (const cells of rows) {
    const line = row(cells.map(cell));
    left -= Buffer.byteLength(line);
    if (left < 0) break;
    kept.push(line);
  }
  const missing = rows.length - kept.length;
  const rest = missing === 0 ? '' : `\nand ${missing} more, for which there is no room here\n`;
  return `${head}${kept.join('')}${rest}${foot}\n`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** Text as it is: as entities nothing of it is Markdown, HTML, a mention or an address. */
function cell(text: string): string {
  return printable(text, CELL_LENGTH).replace(/[\\`*_{}[\]<>()#+!|&~@:/$"'-]/g, (character) => {
    return `&#${character.charCodeAt(0)};`;
  });
}
