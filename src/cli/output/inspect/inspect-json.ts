/** The JSON document of `inspect --json`: what the text has, bytes in hexadecimal, what is not there as null. */

import type { InspectedFile } from '../../../verifying/inspect-file.ts';

/** The certificates themselves: `--certificates` gives them. */
const LEFT_OUT = 'der';

/** The members are those of the library's types. */
export function inspectJson(file: InspectedFile): object {
  return Object.fromEntries(membersOf(file));
}

function membersOf(value: object): [string, unknown][] {
  return Object.entries(value).flatMap(([name, member]) => (name === LEFT_OUT ? [] : [[name, plain(member)]]));
}

/** Dates, bytes and what is undefined in the forms that JSON has. */
function plain(value: unknown): unknown {
  if (value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'object' && value !== null ? Object.fromEntries(membersOf(value)) : value;
}
