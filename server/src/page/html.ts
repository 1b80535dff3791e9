/** A tagged template for HTML that escapes every value, and the formats of numbers and times on the page. */

import { printable } from '../text.ts';

/** Marks trusted markup. Untrusted input cannot forge this mark, because JSON has no symbols. */
const MARKUP = Symbol('markup');

export interface Html {
  readonly [MARKUP]: string;
}

/** `undefined` and `false` print nothing, so that parts can be omitted. */
export type Part = Html | string | number | false | undefined | readonly Part[];

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [MARKUP]: strings.map((text, index) => text + markupOf(parts[index])).join('') };
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

export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** UTC time, for example 2030-12-31 18:00:00. @param length 10 for the date alone */
export function time(value: Date, length = 19): Html {
  const iso = value.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, length).replace('T', ' ')}</time>`;
}

/** Shortens a text, because one long name would widen its column. */
export function short(text: string): string {
  const characters = [...text];
  return characters.length <= LONGEST ? text : `${characters.slice(0, LONGEST - 1).join('')}…`;
}

const LONGEST = 32;
