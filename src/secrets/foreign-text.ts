/** Text of a service or a timestamp authority: it may hold the credentials that were sent to it. */

import { withoutDenseRuns } from './dense-runs.ts';

export interface ForeignText {
  /** The text with `[secret]` for each secret. */
  mask(text: string): string;
  /** The same, with `…` for what may be a secret in another form: fit to be shown and stored. */
  show(text: string): string;
  /** Whether the text, or what it holds in Base64, has a secret of at least `SHORTEST` characters: shorter ones occur by chance. */
  holdsSecret(text: string): boolean;
}

const MASK = '[secret]';
const SHORTEST = 8;

/** @param secrets empty ones are left out */
export function foreignText(secrets: readonly string[]): ForeignText {
  const given = secrets.filter((secret) => secret !== '').map((secret) => secret.normalize('NFC'));
  const skeletons = [...new Set(given.flatMap(formsOf))].filter((form) => form.length >= SHORTEST);
  const patterns = given.map(patternOf);
  const long = given.filter((secret) => secret.length >= SHORTEST).map(patternOf);
  const mask = (foreign: string, show: (between: string) => string): string => {
    const text = foreign.normalize('NFC');
    let masked = '';
    let done = 0;
    for (const [from, to] of [...findLiterally(text, patterns), ...findSkeletons(text, skeletons)].sort(byStart)) {
      if (from >= done) masked += show(text.slice(done, from)) + MASK;
      done = Math.max(done, to);
    }
    return masked + show(text.slice(done));
  };
  return {
    mask: (text) => mask(text, (between) => between),
    show: (text) => mask(text, withoutDenseRuns),
    holdsSecret(foreign) {
      return [foreign, ...decodedAtEachOffset(foreign)].some((one) => {
        const text = one.normalize('NFC');
        // No positions: for each answer they would take 4 % of the processor time of 300 programs of 12 KB.
        const letters = lettersOf(text);
        return long.some((pattern) => text.search(pattern) !== -1) || skeletons.some((form) => letters.includes(form));
      });
    },
  };
}

/** Base64 repeats every four digits, and may begin at any of them. */
function decodedAtEachOffset(text: string): readonly string[] {
  return [0, 1, 2, 3].map((offset) => Buffer.from(text.slice(offset), 'base64').toString('latin1'));
}

/** Start and end in the text. */
type Span = readonly [number, number];

const byStart = ([one]: Span, [other]: Span): number => one - other;

function patternOf(secret: string): RegExp {
  return new RegExp(secret.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');
}

function findLiterally(text: string, patterns: readonly RegExp[]): readonly Span[] {
  return patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }): Span => [index, index + found.length]),
  );
}

/** The secret, percent-encoded, in hexadecimal, and in Base64 at each of the three offsets in a longer text. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const forms = [
    secret,
    encodeURIComponent(secret),
    bytes.toString('hex'),
    ...[0, 1, 2].map((o) => base64At(bytes, o)),
  ];
  return forms.map(lettersOf);
}

/** The Base64 digits that depend on no byte before or after the secret. A digit has 6 bits. */
function base64At(bytes: Uint8Array, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes, Buffer.alloc(3)]).toString('base64');
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

/**
 * The letters and digits of ASCII, in lower case. So case, spaces, line breaks, invisible characters, separators, escapes
 * by a backslash, base64url and UTF-8 that was read as Latin-1 make no difference.
 */
function lettersOf(text: string): string {
  return text.replace(/[^0-9a-z]+/gi, '').toLowerCase();
}

function findSkeletons(text: string, wanted: readonly string[]): readonly Span[] {
  const letters = lettersOf(text);
  const starts = Array.from(text.matchAll(/[0-9a-z]/gi), ({ index }) => index);
  const spans: Span[] = [];
  for (const form of wanted) {
    for (let at = letters.indexOf(form); at !== -1; at = letters.indexOf(form, at + form.length)) {
      spans.push([starts[at] ?? 0, (starts[at + form.length - 1] ?? text.length) + 1]);
    }
  }
  return spans;
}
