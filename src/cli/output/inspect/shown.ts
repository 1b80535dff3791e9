/** Values in the form people read them in, with nothing from outside raw. */

import { printable } from '../../../errors/printable.ts';
import type { NamedObject } from '../../../verifying/object-names.ts';

const LONGEST = 4096;

/** On one line. */
export function shown(text: string): string {
  return printable(text, LONGEST);
}

/** By its name; dotted what has none. */
export function named({ oid, name }: NamedObject): string {
  return name ?? oid;
}

/** Universal time, to the second. */
export function dateTime(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

export function bytesText(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'byte' : 'bytes'}`;
}
