/** JSON text that a terminal and a build service can be shown: the same values, written so that nothing in them acts. */

import { COMMAND } from './printable.ts';

/** What JSON allows in a string and a terminal would act on: C1 controls and DEL, marks of reading direction, line separators. */
const DANGEROUS = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;

export function harmlessJson(document: object, indent?: number): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const disarmed = (command: string) => `${command.slice(0, 1)}${escaped(command.slice(1))}`;
  const text = JSON.stringify(document, undefined, indent).replace(COMMAND, disarmed);
  return text.replace(DANGEROUS, escaped);
}
