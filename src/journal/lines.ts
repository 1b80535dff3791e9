/** Lines of JSON that carry their own checksum, so that a torn or damaged one is told from a whole one. */

import { hash } from 'node:crypto';

/** Hexadecimal digits of SHA-256: against accidents, not against forgers. */
const SUM_LENGTH = 16;
/** What stands between the JSON of the value and the end of the line: `,"sum":"0123456789abcdef"}`. */
const SUM_MEMBER = ',"sum":"';
const TAIL_LENGTH = SUM_MEMBER.length + SUM_LENGTH + 2;

/** One line with its newline. `value` has at least one member. */
export function encodeLine(value: Readonly<Record<string, unknown>>): string {
  const json = JSON.stringify(value);
  return `${json.slice(0, -1)}${SUM_MEMBER}${checksum(json)}"}\n`;
}

/** The value with its `sum`; undefined for what is not a whole line. */
export function decodeLine(line: string): unknown {
  const bodyLength = line.length - TAIL_LENGTH;
  if (bodyLength < 1 || !line.startsWith(SUM_MEMBER, bodyLength)) return undefined;
  const sum = line.slice(bodyLength + SUM_MEMBER.length, -2);
  if (sum !== checksum(`${line.slice(0, bodyLength)}}`)) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The lines of a file, blank ones left out. Only the last may lack its newline: then it may be torn. */
export function splitLines(bytes: Uint8Array): { readonly lines: readonly string[]; readonly terminated: boolean } {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return { lines: text.split('\n').filter((line) => line !== ''), terminated: text === '' || text.endsWith('\n') };
}

function checksum(json: string): string {
  return hash('sha256', json, 'hex').slice(0, SUM_LENGTH);
}
