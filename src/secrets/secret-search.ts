/** Finds secrets in text from outside, however they are encoded there, and takes them out. */

import { rewrite, type TextView, unescapedViews, utf8, viewOf } from './text-view.ts';

export interface SecretSearch {
  /** The text with `[secret]` in place of each secret. */
  mask(text: string): string;
  /** Whether the text holds one. Secrets below `SHORTEST` bytes are not looked for: any text has them by chance. */
  isIn(text: string): boolean;
}

const MASK = '[secret]';
/** Bytes. */
const SHORTEST = 6;

/** @param secrets texts; empty ones are left out */
export function searchFor(secrets: readonly string[]): SecretSearch {
  const forms = secrets.filter((secret) => secret !== '').map(formsOf);
  const long = forms.filter(({ bytes }) => bytes >= SHORTEST);
  return {
    mask: (text) => replaceSpans(text, spansOf(text, forms)),
    isIn: (text) => spansOf(text, long).length > 0,
  };
}

/** What to look for: as the views below show it. */
interface Forms {
  /** Length of the secret. */
  readonly bytes: number;
  /** In lower case, without spaces. */
  readonly plain: readonly string[];
  readonly hexadecimal: readonly string[];
  /** The digits that depend on nothing before or after the secret. */
  readonly base64: readonly string[];
}

function formsOf(secret: string): Forms {
  const whole = Buffer.from(secret, 'utf8');
  // Without its last zero this is a part of the other order of bytes, too.
  const wide = Buffer.from(secret, 'utf16le').subarray(0, -1);
  const [itself = '', ...unescaped] = unescapedViews(viewOf(secret)).map(({ text }) => text);
  // In a text whose escapes are undone, those in the secret are undone too. What is short would be found anywhere.
  const views = [itself, ...unescaped.filter((text) => text.length >= SHORTEST)];
  const plain = [...views, ...views.map((text) => text.replaceAll(' ', '+')), utf8(encodeURIComponent(secret))];
  // Escaped or encoded before it was encoded again.
  const inner = [
    whole,
    wide,
    Buffer.from(encodeURIComponent(secret)),
    Buffer.from(JSON.stringify(secret).slice(1, -1)),
  ];
  const within = [
    ...inner,
    Buffer.from(whole.toString('hex')),
    ...digitsOf(whole).map((digits) => Buffer.from(digits)),
  ];
  return {
    bytes: whole.length,
    plain: unique(plain.map((text) => text.replace(SPACES, '').toLowerCase())),
    hexadecimal: unique(inner.map((bytes) => bytes.toString('hex')).filter((text) => text.length >= SHORTEST_DIGITS)),
    base64: unique(within.flatMap(digitsOf)),
  };
}

const SHORTEST_DIGITS = 4;

/** Base64 of the bytes at each of the three places that they may have in a longer text. */
function digitsOf(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes, Buffer.alloc(3)]).toString('base64');
    // A digit has 6 bits.
    const digits = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return digits.length >= SHORTEST_DIGITS ? [digits] : [];
  });
}

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)].filter((text) => text !== '');

/** Control characters as well: the zeros of UTF-16, line breaks. */
const SPACES = /[\0-\x20\x7f]+/g;
const SEPARATORS = /0x|[^0-9a-z]+/g;

/** From and to, in the original. */
type Span = readonly [number, number];

function spansOf(text: string, forms: readonly Forms[]): readonly Span[] {
  const spans: Span[] = [];
  for (const view of unescapedViews(viewOf(text))) {
    const dense = rewrite(view, SPACES, () => '');
    const lower = { ...dense, text: dense.text.toLowerCase() };
    const hexadecimal = rewrite(lower, SEPARATORS, () => '');
    const base64 = { ...dense, text: dense.text.replaceAll('-', '+').replaceAll('_', '/') };
    for (const form of forms) {
      for (const wanted of form.plain) findIn(lower, wanted, spans);
      for (const wanted of form.hexadecimal) findIn(hexadecimal, wanted, spans);
      for (const wanted of form.base64) findIn(base64, wanted, spans, isDigit);
    }
  }
  return spans;
}

/** With the neighbours that may hold a part of the secret. */
function findIn(
  { text, starts, ends }: TextView,
  wanted: string,
  spans: Span[],
  isPartly = (_: string): boolean => false,
): void {
  for (let from = text.indexOf(wanted); from !== -1; from = text.indexOf(wanted, from + 1)) {
    let end = from + wanted.length;
    const start = isPartly(text.charAt(from - 1)) ? from - 1 : from;
    if (isPartly(text.charAt(end))) end += 1;
    spans.push([starts[start] ?? 0, ends[end - 1] ?? 0]);
  }
}

function isDigit(character: string): boolean {
  return /^[0-9A-Za-z+/]$/.test(character);
}

function replaceSpans(text: string, spans: readonly Span[]): string {
  let masked = '';
  let done = 0;
  for (const [from, to] of [...spans].sort(([one], [other]) => one - other)) {
    if (from >= done) masked += text.slice(done, from) + MASK;
    done = Math.max(done, to);
  }
  return masked + text.slice(done);
}
