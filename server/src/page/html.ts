/** Markup as a tagged template, which escapes what is put into it; numbers and times as the page writes them, in UTC. */

import { printable } from '../text.ts';

/** No value from outside can pretend to be markup: JSON has no symbols. */
const MARKUP = Symbol('markup');

export interface Html {
  readonly [MARKUP]: string;
}

/** `undefined` and `false` print nothing, so that parts can be omitted. */
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

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** 1234567 as 1,234,567. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** `one` or `many`, with the number before it. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** 2030-12-31, in UTC. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** 2030-12-31 18:00:00, in UTC. */
export function time(value: Date): Html {
  const iso = value.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)}</time>`;
}

/** 1.5 MB, in units of 1000 as file managers show it. @param bytes 0 or more */
export function size(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB'];
  if (bytes < 1000) return counted(bytes, 'byte');
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length);
  return `${(bytes / 1000 ** power).toFixed(1)} ${units[power - 1]}`;
}

export function day(value: Date): Html {
  return html`<time datetime="${value.toISOString()}">${dayOf(value)}</time>`;
}

/** How long a span is, in its largest fitting unit, rounded down: nothing is to seem longer than it is. @param span milliseconds */
export function duration(span: number): string {
  if (span >= 2 * DAY) return counted(Math.floor(span / DAY), 'day');
  if (span >= 2 * HOUR) return counted(Math.floor(span / HOUR), 'hour');
  return counted(Math.max(0, Math.floor(span / MINUTE)), 'minute');
}
