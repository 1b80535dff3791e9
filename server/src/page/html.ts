import { printable } from '../text.ts';

/** Marks trusted markup. Clients send JSON, which cannot contain a JavaScript symbol. */
const MARKUP = Symbol('markup');

export interface Html {
  readonly [MARKUP]: string;
}

export type Part = Html | string | number | false | undefined | readonly Part[];

/** Tag of a template whose values are escaped. */
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

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** Formats a UTC time, such as 2030-12-31 18:00:00. @param length 10 for the date alone */
export function time(value: Date, length = 19): Html {
  const iso = value.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, length).replace('T', ' ')}</time>`;
}

/** One long name would widen its column. */
export function short(text: string): string {
  const characters = [...text];
  return characters.length <= LONGEST ? text : `${characters.slice(0, LONGEST - 1).join('')}…`;
}

const LONGEST = 32;
