/** Later revisions of a signed document, written by chance: valid sections around objects that are odd, or the other way round. */

import { formWith, objectOf } from '../../unit/formats/pdf/attacks.ts';
import { objectStream, withUpdate } from '../../unit/formats/pdf/make-pdf.ts';
import { mutateBytes } from './bytes.ts';
import { choose, once, pick, type Random } from './random.ts';

export interface SignedDocument {
  readonly bytes: Buffer;
  /** End of what the first signature covers. */
  readonly end: number;
  /** The values of all objects as they are written, by their numbers. */
  readonly objects: ReadonlyMap<number, string>;
}

/** Numbers of the objects that updates add. */
const FIRST_NEW = 50;
const FIELD = '<< /Type /Annot /Subtype /Widget /FT /Sig /T (later) /Rect [0 0 0 0] /P 3 0 R >>';
const NEW_OBJECTS = [
  FIELD,
  FIELD.replace('[0 0 0 0]', '[0 0 300 200]'),
  FIELD.replace('/FT /Sig /T (later)', '/Parent 50 0 R'),
  '<< /FT /Sig /T (above) /Kids [51 0 R] >>',
  '<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (a note) >>',
  '<< /Type /Sig /SubFilter /ETSI.CAdES.detached /Contents <00> >>',
  '<< /Type /StructElem /S /Form /P 6 0 R /K << /Type /OBJR /Obj 50 0 R >> >>',
  '<< /Length 3 >>\nstream\nq Q\nendstream',
  '[50 0 R]',
  '50 0 R',
  'null',
];
const ENTRIES = [
  ...['/A << /S /JavaScript /JS (x) >>', '/AA << /O 50 0 R >>', '/AP << /N 51 0 R >>', '/AS /Off', '/Annots [50 0 R]'],
  ...['/Contents 51 0 R', '/DA (/F1 9 Tf)', '/DR << /Font 51 0 R >>', '/DSS << /Certs [51 0 R] >>', '/F 128'],
  ...['/FT /Tx', '/Kids [50 0 R]', '/Length 2', '/MK << /R 90 >>', '/Metadata 51 0 R', '/Names 50 0 R'],
  ...['/Parent 50 0 R', '/Perms << >>', '/Rotate 90', '/SigFlags 3', '/StructParent 1', '/T (x)', '/V 51 0 R'],
  '/Version /2.0',
];
/** In a value: references, numbers, names and entries. */
const WORDS = [/\d+ \d+ R/g, /\d+/g, /\/\w+/g, /\/\w+ (?:\d+ \d+ R|\/?\w+|\[[^\]]*\]|\([^)]*\))/g];

export function mutateDocument(document: SignedDocument, random: Random): Buffer {
  const isUpdated = document.bytes.length > document.end;
  let bytes = isUpdated && once(random, 3) ? document.bytes : withRandomUpdate(document, random);
  if (once(random, 3)) bytes = withOddEntry(bytes, document.end, random);
  if (once(random, 3)) bytes = mutateBytes(bytes, random, [document.end, bytes.length]);
  return bytes;
}

function withRandomUpdate({ bytes, objects }: SignedDocument, random: Random): Buffer {
  const numbers = [...objects.keys()];
  const changed = once(random, 2) ? withNewField(bytes, random) : {};
  for (let left = 1 + random(3); left > 0; left -= 1) {
    const isNew = once(random, 4);
    const number = isNew ? FIRST_NEW + random(4) : pick(random, numbers);
    const before = changed[number] ?? (isNew ? pick(random, NEW_OBJECTS) : objects.get(number));
    changed[number] = mutateValue(before ?? 'null', [...numbers, FIRST_NEW, FIRST_NEW + 1], random);
  }
  const inside = Object.entries(changed).map(([number, value]) => ({ number: Number(number), value }));
  const stream = once(random, 8) ? { [pick(random, [...numbers, 60])]: objectStream(inside) } : {};
  const trailer = once(random, 8) ? pick(random, [...ENTRIES, '/Info 51 0 R', '/XRefStm 9', '/Encrypt 51 0 R']) : '';
  return withUpdate(bytes, { ...changed, ...stream }, { trailer, size: once(random, 8) ? 0 : 99 });
}

/** What a further signature adds: the field, and where it is linked in. */
function withNewField(bytes: Buffer, random: Random): Record<number, string> {
  const page = objectOf(bytes, 3);
  if (!/\/Annots \[/.test(page)) return { [FIRST_NEW]: FIELD };
  return {
    ...formWith(bytes, /\/Fields \[([^\]]*)\]/, '/Fields [$1 50 0 R]'),
    3: page.replace(/\/Annots \[([^\]]*)\]/, '/Annots [$1 50 0 R]'),
    [FIRST_NEW]: FIELD,
    ...(once(random, 2) ? { 1: `${objectOf(bytes, 1).slice(0, -2)} /DSS << /Certs [51 0 R] >> >>`, 51: '<< >>' } : {}),
  };
}

function mutateValue(value: string, numbers: readonly number[], random: Random): string {
  return choose(random, 6, [
    () => value.replace('<<', `<< ${pick(random, ENTRIES)}`),
    () => value.replace(']', ` ${pick(random, numbers)} 0 R]`),
    () => pick(random, NEW_OBJECTS),
    () => value,
    () => {
      const found = Array.from(value.matchAll(pick(random, WORDS)));
      if (found.length === 0) return value;
      const { 0: word, index } = pick(random, found);
      return value.slice(0, index) + otherWord(word, numbers, random) + value.slice(index + word.length);
    },
  ]);
}

function otherWord(word: string, numbers: readonly number[], random: Random): string {
  if (word.endsWith(' R')) return `${pick(random, numbers)} ${once(random, 8) ? 1 : 0} R`;
  if (/^\d+$/.test(word)) return pick(random, [`${word}.0`, String(Number(word) + 1), '0', String(random(200))]);
  return word.includes(' ') ? pick(random, ['', pick(random, ENTRIES)]) : (pick(random, ENTRIES).split(' ')[0] ?? '');
}

/** Another number, kind or offset in a table after `end`, or another number of an object. */
function withOddEntry(bytes: Buffer, end: number, random: Random): Buffer {
  const tail = bytes.toString('latin1', end);
  const found = Array.from(tail.matchAll(/\d{10} \d{5} [nf]|\n\d+ \d+(?= obj|\n\d{10} )|\/(?:Size|Prev|Root) \d+/g));
  if (found.length === 0) return bytes;
  const { 0: word, index } = pick(random, found);
  const offsets = Array.from(
    bytes.toString('latin1').matchAll(/(?<![0-9A-F])\d{1,3} 0 obj|xref/g),
    (each) => each.index,
  );
  const other = /[nf]$/.test(word)
    ? pick(random, [
        word.replace('n', 'f'),
        word.replace(' 00000', ' 00001'),
        `${String(pick(random, offsets)).padStart(10, '0')}${word.slice(10)}`,
      ])
    : word.replace(/\d+/, (digits) => pick(random, [Number(digits) + 1, random(99), pick(random, offsets)]).toString());
  return Buffer.from(
    bytes.toString('latin1', 0, end) + tail.slice(0, index) + other + tail.slice(index + word.length),
    'latin1',
  );
}
