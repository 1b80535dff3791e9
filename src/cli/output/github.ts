import { appendFileSync, statSync } from 'node:fs';
import { printable } from '../../errors/printable.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { cliWarnings } from '../errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface Annotation {
  readonly kind: 'error' | 'warning';
  readonly title: string;
  readonly message: string;
  readonly file?: string | undefined;
}

export interface SummaryTable {
  readonly heading: string;
  readonly columns: readonly string[];
  /** The text may be untrusted, so it is escaped. */
  readonly rows: readonly (readonly string[])[];
}

const MESSAGE_LENGTH = 4096;
/** GitHub's size limit for a step summary. */
const LARGEST_SUMMARY = 1024 * 1024;
const CELL_LENGTH = 500;
/** Number of bytes reserved for the line that says how many rows are omitted. */
const REST_LENGTH = 200;

export function hasAnnotations({ GITHUB_ACTIONS }: Env): boolean {
  return GITHUB_ACTIONS === 'true';
}

/** Escapes untrusted text, so that it cannot end the workflow command. GitHub's runner shows `%0A` as a line break. */
export function annotationLine({ kind, title, message, file }: Annotation): string {
  const properties = [...(file === undefined ? [] : [`file=${property(file)}`]), `title=${property(title)}`];
  const lines = message.split('\n').map((line) => data(printable(line, MESSAGE_LENGTH)));
  return `::${kind} ${properties.join(',')}::${lines.join('%0A')}`;
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(printable(text, MESSAGE_LENGTH)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Returns a warning if the summary cannot be written. */
export function writeJobSummary(table: SummaryTable, env: Env): string | undefined {
  const path = env.GITHUB_STEP_SUMMARY;
  if (!hasAnnotations(env) || !path) return undefined;
  try {
    const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    const text = summaryMarkdown(table, LARGEST_SUMMARY - size);
    if (text !== '') appendFileSync(path, text);
    return undefined;
  } catch (thrown) {
    return cliWarnings('job-summary-failed', { reason: systemReason(thrown) });
  }
}

/** Returns as many rows as fit into `limit` bytes; empty if not even the heading fits. */
export function summaryMarkdown({ heading, columns, rows }: SummaryTable, limit: number): string {
  const head = `### ${cell(heading)}\n\n${row(columns.map(cell))}${row(columns.map(() => '---'))}`;
  let left = limit - Buffer.byteLength(head) - REST_LENGTH;
  if (left < 0) return '';
  const kept: string[] = [];
  for (const cells of rows) {
    const line = row(cells.map(cell));
    left -= Buffer.byteLength(line);
    if (left < 0) break;
    kept.push(line);
  }
  const missing = rows.length - kept.length;
  const rest = missing === 0 ? '' : `\nand ${missing} more, omitted because the summary would be too large\n`;
  return `${head}${kept.join('')}${rest}\n`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** With HTML entities, text cannot be read as Markdown, HTML, a mention or a URL. */
function cell(text: string): string {
  return printable(text, CELL_LENGTH).replace(/[\\`*_{}[\]<>()#+!|&~@:/$"'-]/g, (character) => {
    return `&#${character.charCodeAt(0)};`;
  });
}
