/** Markup as a tagged template: whatever is put into it is text, escaped and with its control characters written out. */

import { printable } from '../cli/values.ts';

/** No value from outside can pretend to be markup: JSON has no symbols. */
const MARKUP = Symbol('markup');

export interface Html {
  readonly [MARKUP]: string;
}

/** `undefined` and `false` are nothing, so that parts may be left out. */
export type Part = Html | string | number | false | undefined | readonly Part[];

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [MARKUP]: strings.map((text, index) => text + markupOf(parts[index])).join('') };
}

/** Text that a form must give back as it came: escaped, and nothing else. */
export function verbatim(text: string): Html {
  return { [MARKUP]: escaped(text) };
}

export function render(markup: Html): string {
  return markup[MARKUP];
}

function markupOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (typeof part === 'string') return escaped(printable(part));
  if (typeof part === 'number') return String(part);
  return MARKUP in part ? part[MARKUP] : part.map(markupOf).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
