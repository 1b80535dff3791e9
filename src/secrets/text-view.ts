/** A text as it reads once its escapes are undone, with the place in the original of each of its characters. */

/** The characters are bytes: UTF-8, one byte in each. */
export interface TextView {
  readonly text: string;
  /** Where each character starts in the original, and where it ends. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** As UTF-8, without characters that are not seen. */
export function viewOf(original: string): TextView {
  const draft = startDraft();
  let index = 0;
  for (const point of original) {
    const end = index + point.length;
    if (!INVISIBLE.test(point)) draft.add(utf8(point), index, end);
    index = end;
  }
  return draft.view();
}

export function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Replaces each match of a global pattern. What is put in its place stands where the match stood. */
export function rewrite(view: TextView, pattern: RegExp, replacement: (match: RegExpMatchArray) => string): TextView {
  const { text, starts, ends } = view;
  if (text.search(pattern) === -1) return view;
  const draft = startDraft();
  let last = 0;
  const copyTo = (end: number): void => {
    for (; last < end; last += 1) draft.add(text.charAt(last), starts[last] ?? 0, ends[last] ?? 0);
  };
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    copyTo(match.index);
    draft.add(replacement(match), starts[match.index] ?? 0, ends[end - 1] ?? 0);
    last = end;
  }
  copyTo(text.length);
  return draft.view();
}

function startDraft() {
  const parts: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  return {
    add(text: string, start: number, end: number): void {
      parts.push(text);
      for (let count = 0; count < text.length; count += 1) {
        starts.push(start);
        ends.push(end);
      }
    },
    view: (): TextView => ({ text: parts.join(''), starts, ends }),
  };
}

const INVISIBLE = /^\p{Cf}$/u;

/** Escaped escapes need several rounds: %2541, &amp;#65;, JSON within JSON. */
const MOST_ROUNDS = 6;

/** The view itself, and after each round of undoing escapes; the last one has none left. */
export function unescapedViews(view: TextView): readonly TextView[] {
  const views = [view];
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const before = views.at(-1) ?? view;
    const after = rewrite(before, ESCAPE, unescaped);
    if (after.text === before.text) break;
    views.push(after);
  }
  return views;
}

/** Of addresses, JSON and programs, HTML and XML, quoted-printable. */
const ESCAPE = new RegExp(
  [
    '\\\\u(?<high>d[89ab][0-9a-f]{2})\\\\u(?<low>d[c-f][0-9a-f]{2})',
    '(?:\\\\u|%u)(?<unit>[0-9a-f]{4})',
    '\\\\u\\{(?<point>[0-9a-f]{1,6})\\}',
    '&#x(?<entity>[0-9a-f]{1,8});?',
    '&#(?<decimal>[0-9]{1,8});?',
    '&(?<name>[a-z]{2,8});',
    '(?:%|\\\\x|=)(?<byte>[0-9a-f]{2})',
    '\\\\(?<octal>[0-3][0-7]{2})',
    '\\\\(?<short>[bfnrt])',
    '\\\\(?<self>[^0-9A-Za-z])',
    '=\\r?\\n',
  ].join('|'),
  'gi',
);

const SHORT: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The characters of ASCII that have a name in HTML. */
const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', tab: '\t', newline: '\n', excl: '!', num: '#' },
  ...{ dollar: '$', percnt: '%', lpar: '(', rpar: ')', ast: '*', midast: '*', plus: '+', comma: ',', period: '.' },
  ...{ sol: '/', colon: ':', semi: ';', equals: '=', quest: '?', commat: '@', lsqb: '[', lbrack: '[', bsol: '\\' },
  ...{ rsqb: ']', rbrack: ']', hat: '^', lowbar: '_', underbar: '_', grave: '`', lcub: '{', lbrace: '{' },
  ...{ verbar: '|', vert: '|', rcub: '}', rbrace: '}', hyphen: '-', dash: '-' },
};

function unescaped({ groups = {}, 0: whole }: RegExpMatchArray): string {
  const { high, low, unit, point, entity, decimal, name, byte, octal, short, self } = groups;
  if (high !== undefined && low !== undefined) {
    return utf8(String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)));
  }
  const hexadecimal = unit ?? point ?? entity;
  if (hexadecimal !== undefined) return characterOf(Number.parseInt(hexadecimal, 16), whole);
  if (decimal !== undefined) return characterOf(Number(decimal), whole);
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
  if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
  if (short !== undefined) return SHORT[short.toLowerCase()] ?? whole;
  return self ?? '';
}

function characterOf(point: number, otherwise: string): string {
  return point <= 0x10ffff ? utf8(String.fromCodePoint(point)) : otherwise;
}
