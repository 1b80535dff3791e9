/** Removes secrets from untrusted text: a service or an authority may repeat the credentials that it received. */

export type ForeignText = ReturnType<typeof foreignText>;

const MASK = '[secret]';
const SHORTEST = 8;

export function foreignText(secrets: readonly string[]) {
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
    mask: (text: string): string => mask(text, (between) => between),
    /** Also replaces text that could be an encoded secret. The result is safe to print and to store. */
    show: (text: string): string => mask(text, withoutDenseRuns),
    /** Also decodes Base64 in the text. Ignores short secrets, which can occur in a text by chance. */
    holdsSecret(foreign: string): boolean {
      return [foreign, ...decodedAtEachOffset(foreign)].some((one) => {
        const text = one.normalize('NFC');
        // Computing positions would take 4% of the processor time of a run with 300 small programs.
        const letters = lettersOf(text);
        return long.some((pattern) => text.search(pattern) !== -1) || skeletons.some((form) => letters.includes(form));
      });
    },
  };
}

/** A group of four Base64 digits may begin with any of the first four digits. */
function decodedAtEachOffset(text: string): readonly string[] {
  return [0, 1, 2, 3].map((offset) => Buffer.from(text.slice(offset), 'base64').toString('latin1'));
}

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

/** Returns the Base64 digits (6 bits each) that do not depend on the bytes before or after the secret. */
function base64At(bytes: Uint8Array, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes, Buffer.alloc(3)]).toString('base64');
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

/**
 * Returns the ASCII letters and digits in lower case. Comparing them ignores case, white space, separators, backslashes,
 * invisible characters, the alphabet of base64url, and UTF-8 that was misread as Latin-1.
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

const SHORTEST_RUN = 16;

/**
 * Replaces each run of 16 or more characters with `…`, because it could be a secret in an unknown form. Plain words, URLs
 * and UUIDs end a run; spaces do not, because they may separate the printed bytes of a secret. Removes the user name and
 * the password from each URL.
 */
export function withoutDenseRuns(foreign: string): string {
  const text = foreign.replace(/\/\/[^\s/?#@]*@/g, '//');
  let shown = '';
  let run = '';
  const endRun = (): void => {
    const dense = run.trimEnd();
    shown += (dense.length < SHORTEST_RUN ? dense : '…') + run.slice(dense.length);
    run = '';
  };
  for (const part of text.match(PARTS) ?? []) {
    const isSpace = /^\s/.test(part);
    if (!isSpace && (isPlain(part) || (part.length < SHORTEST_RUN && WORD_INSIDE.test(part)))) {
      endRun();
      shown += part;
    } else if (isSpace && run === '') shown += part;
    else run += part;
  }
  endRun();
  return shown;
}

/** White space, a URL up to its query, or any other text between white space. */
const PARTS = /\s+|["'(<[]*https?:\/\/[^\s\p{C}?#]*|\S+/gu;

/** A word of five or more letters, which never occurs in bytes that are printed with separators. */
const WORD_INSIDE = /(?<![\p{L}\p{Nd}])\p{Lu}?\p{Ll}{4,}(?![\p{L}\p{Nd}])/u;

/** Accepts words joined by punctuation, and short numbers: `status=500`, `sha256`, `/v1/sign`. */
function isPlain(part: string): boolean {
  const text = withNames(part);
  if (UNUSUAL.test(text) || (text.match(/\p{Nd}/gu)?.length ?? 0) > MOST_DIGITS) return false;
  const pieces = text.match(/[\p{L}\p{M}\p{Nd}]+/gu) ?? [];
  return pieces.some(isNoByte) && pieces.every((piece) => /^\p{Nd}+$/u.test(piece) || isWord(piece));
}

/** Replaces UUIDs, times and addresses with words, because they are harmless, and percent escapes in URLs with digits. */
function withNames(part: string): string {
  const named = part.replace(UUID, 'uuid').replace(TIME, 'time').replace(IPV4, 'host');
  return /^["'(<[]*(?:https?:\/)?\//.test(part) ? named.replace(/%[0-9a-f]{2}/gi, '-00-') : named;
}

const UUID = /(?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-z])/i;
const TIME =
  /(?<![\d:-])(?:20\d\d-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d:\d\d)(?![\d:-])/;
const IPV4 = /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d)/;

/** Matches characters that are rare in sentences, names and settings. */
const UNUSUAL = /[^\p{L}\p{M}\p{Nd}\p{P}=|<>`]|[\\&%#]/u;
const MOST_DIGITS = 6;

/** One or two hexadecimal digits count as a byte, even if both are letters. */
function isNoByte(piece: string): boolean {
  return !/^(?:[0-9a-f]{1,2}|\p{Nd}+)$/iu.test(piece);
}

const LONGEST_WORD = 30;
/** Underscores join the words of constants in upper case, but never occur in Base32. */
const MOST_CAPITALS = 15;
/** A rise is an upper-case letter after a lower-case letter: NoSuchKeyException has three rises (oS, hK, yE). */
const LETTERS_FOR_EACH_RISE = 6;

/** The limits apply only to letters with case: languages without case may write no spaces between words. */
function isWord(piece: string): boolean {
  if (!/^[\p{L}\p{M}]+\p{Nd}{0,4}$/u.test(piece)) return false;
  const count = (pattern: RegExp): number => piece.match(pattern)?.length ?? 0;
  const capitals = count(/\p{Lu}/gu);
  const letters = capitals + count(/\p{Ll}/gu);
  const rises = count(/\p{Ll}(?=\p{Lu})/gu);
  return letters <= LONGEST_WORD && capitals <= MOST_CAPITALS && rises <= Math.max(1, letters / LETTERS_FOR_EACH_RISE);
}
