/** The log on a terminal: one readable line instead of each JSON object that pino writes. */

import { json, printable, printableLines } from '../text.ts';

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
/** From this level on, an error is printed with its stack. */
const ERROR = 50;
/** They are in each line, and say nothing to someone at the terminal of the server. */
const LEFT_OUT: ReadonlySet<string> = new Set(['pid', 'hostname', 'reqId']);

interface LogLine {
  readonly level: number;
  readonly time: number;
  readonly operation?: string;
  readonly outcome?: string;
  readonly msg?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
}

/** @param log takes the readable lines */
export function readableLog(log: { write(line: string): void }): { write(line: string): void } {
  return { write: (line) => log.write(readableLine(line)) };
}

/** @param line of pino: a JSON object and a line break */
export function readableLine(line: string): string {
  const { level, time, operation, outcome, msg, err, ...fields } = JSON.parse(line) as LogLine;
  const clock = new Date(time).toTimeString().slice(0, 8);
  const shown = Object.entries(fields)
    .filter(([name, value]) => !LEFT_OUT.has(name) && !(name === 'accessKey' && value === 'unknown'))
    .map(([name, value]) => `${name}=${shownValue(value)}`);
  const what = [operation, outcome, msg].flatMap((part) => (part === undefined ? [] : [printable(part)]));
  const error = err?.message === undefined ? [] : [`error=${shownValue(err.message)}`];
  const first = [clock, (LEVELS[level] ?? String(level)).padEnd(5), ...what, ...shown, ...error].join(' ');
  const stack = level >= ERROR && err?.stack !== undefined ? `${printableLines(err.stack)}\n` : '';
  return `${first}\n${stack}`;
}

/** As it is, if it is one word; else as JSON. */
function shownValue(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? printable(value) : json(value);
}
