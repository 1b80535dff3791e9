/** Leaves out what may be a secret in a form that is not known: in words of people, few long runs are not words. */

const SHORTEST_RUN = 16;

/**
 * Replaces each run of 16 or more characters by `…`, unless it is a plain word, an address or a UUID. Neighbours that are
 * not plain, however short, make up one run: bytes are often written one by one. User names and passwords of addresses are
 * left out.
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

/** Spaces, addresses up to their query, and everything else between spaces. */
const PARTS = /\s+|["'(<[]*https?:\/\/[^\s\p{C}?#]*|\S+/gu;

/** Bytes that are written one by one hold no words. */
const WORD_INSIDE = /(?<![\p{L}\p{Nd}])\p{Lu}?\p{Ll}{4,}(?![\p{L}\p{Nd}])/u;

/** Words with short numbers at their end or between them, joined by punctuation: `status=500`, `sha256`, `/v1/sign`. */
function isPlain(part: string): boolean {
  const text = withNames(part);
  if (UNUSUAL.test(text) || (text.match(/\p{Nd}/gu)?.length ?? 0) > MOST_DIGITS) return false;
  const pieces = text.match(/[\p{L}\p{M}\p{Nd}]+/gu) ?? [];
  return pieces.some(isNoByte) && pieces.every((piece) => /^\p{Nd}+$/u.test(piece) || isWord(piece));
}

/** Words in place of what is known to be harmless. Escapes in an address count as digits. */
function withNames(part: string): string {
  const named = part.replace(UUID, 'uuid').replace(TIME, 'time').replace(IPV4, 'host');
  return /^["'(<[]*(?:https?:\/)?\//.test(part) ? named.replace(/%[0-9a-f]{2}/gi, '-00-') : named;
}

const UUID = /(?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-z])/i;
const TIME =
  /(?<![\d:-])(?:20\d\d-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d:\d\d)(?![\d:-])/;
const IPV4 = /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d)/;

/** Other than letters, digits and the punctuation of ordinary sentences, names and settings. */
const UNUSUAL = /[^\p{L}\p{M}\p{Nd}\p{P}=|<>`]|[\\&%#]/u;
const MOST_DIGITS = 6;

/** One or two hexadecimal digits are a byte, although they may be letters. */
function isNoByte(piece: string): boolean {
  return !/^(?:[0-9a-f]{1,2}|\p{Nd}+)$/iu.test(piece);
}

const LONGEST_WORD = 30;
/** Constants in capitals are joined by underscores; Base32 is not. */
const MOST_CAPITALS = 15;
/** A capital after a small letter: NoSuchKeyException has one in six letters, eTag one in all; Base64 has more. */
const LETTERS_FOR_EACH_RISE = 6;

/** Letters, perhaps with a number of up to four digits at their end. Some languages write no spaces, and have no case. */
function isWord(piece: string): boolean {
  if (!/^[\p{L}\p{M}]+\p{Nd}{0,4}$/u.test(piece)) return false;
  const count = (pattern: RegExp): number => piece.match(pattern)?.length ?? 0;
  const capitals = count(/\p{Lu}/gu);
  const letters = capitals + count(/\p{Ll}/gu);
  const rises = count(/\p{Ll}(?=\p{Lu})/gu);
  return letters <= LONGEST_WORD && capitals <= MOST_CAPITALS && rises <= Math.max(1, letters / LETTERS_FOR_EACH_RISE);
}
