/** Attacks on signed documents that show something else in some readers only, or by an object that has two purposes. */

import {
  type Attack,
  attackOn,
  edited,
  entryOf,
  FIELDS,
  formWith,
  inCatalog,
  objectOf,
  onPage,
  startOf,
  stream,
  streamOf,
  updated,
  withTable,
} from './attacks.ts';
import { makePdf, objectStream, withUpdate, xrefStream } from './make-pdf.ts';

const STAMP = '<< /Type /Annot /Subtype /Stamp /Rect [0 0 300 200] /F 2 /AP << /N 4 0 R >> >>';
const LAYER = '<< /Type /OCG /Name (Layer) >>';
const offsetOf = (bytes: Buffer, object: string): number => bytes.lastIndexOf(`\n${object} obj`) + 1;

/** Without the resources of the page: they are this object. */
export const withResources = (document: Buffer, resources: string): Buffer =>
  edited(document, /\/Resources << \/Font << .*? >> >> >>/, (found) => `/Resources ${resources}`.padEnd(found.length));

/** The list of annotations has another purpose too, and gets a signature field that serves it. */
const withItem = (field: string) => (signed: Buffer) => {
  const form = formWith(signed, FIELDS, '/Fields [$1 50 0 R]');
  return updated({ ...form, 5: objectOf(signed, 5).replace(']', ' 50 0 R]'), 50: field, 51: stream('Forged') })(signed);
};
const FIELD = '<< /Type /Annot /Subtype /Widget /FT /Sig /T (x) /Rect [0 0 0 0]';

/** Entries of a stream: object number, type, offset or stream, generation or index. */
function sectionStream(signed: Buffer, rows: readonly (readonly number[])[], trailer: string): string {
  const entries = rows.map(([number = 0, type = 0, second = 0, third = 0]) => ({ number, type, second, third }));
  const written = xrefStream(entries, 99, `/Root 1 0 R ${trailer.replace('$PREV', startOf(signed))}`);
  return `98 0 obj\n${written.toString('latin1')}\nendobj\n`;
}

const cycle = (length: number, first: number): Record<number, string> => {
  const next = (index: number) => `<< /Next ${first + ((index + 1) % length)} 0 R >>`;
  return Object.fromEntries(Array.from({ length }, (_, index) => [first + index, next(index)]));
};

const made = attackOn(makePdf());

export const READER_ATTACKS: readonly Attack[] = [
  made('a reference with another generation than its object, which MuPDF follows', updated({ 4: stream('Forged') }), {
    original: edited(makePdf(), '/Contents 4 0 R', '/Contents 4 1 R'),
  }),
  ...[0, 1].map((index) => ({
    name: `an object twice in an object stream, the signed one at index ${index}`,
    original: makePdf({ references: 'compressed' }),
    attack: (signed: Buffer) => {
      const pages = ['<< /Type /Pages /Kids [3 0 R] /Count 1 >>', '<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 2 >>'];
      const values = index === 0 ? pages : pages.toReversed();
      const whole = objectStream(values.map((value) => ({ number: 2, value }))).toString('latin1');
      const start = signed.length + `50 0 obj\n${whole}\nendobj\n`.length;
      const rows = [
        [2, 2, 50, index],
        [50, 1, signed.length, 0],
        [98, 1, start, 0],
      ];
      const section = sectionStream(signed, rows, '/Prev $PREV');
      const update = `50 0 obj\n${whole}\nendobj\n${section}startxref\n${start}\n%%EOF\n`;
      return Buffer.concat([signed, Buffer.from(update, 'latin1')]);
    },
    code: 'pdf-cross-reference-broken',
  })),
  made('a hybrid section whose table frees what a page shows, and whose stream does not', (signed) => {
    const section = sectionStream(signed, [[4, 1, offsetOf(signed, '4 0')]], '');
    const entries = `4 1\n${entryOf(0, 'f')}98 1\n${entryOf(signed.length)}`;
    return withTable(signed, section, entries, `/XRefStm ${signed.length}`);
  }),
  made(
    'a hybrid section whose stream leads to another section, where pdf.js goes on',
    (signed) => {
      const section = sectionStream(signed, [[98, 1, signed.length]], '/Prev 9');
      return withTable(signed, section, `98 1\n${entryOf(signed.length)}`, `/XRefStm ${signed.length}`);
    },
    { where: '/XRefStm /Prev' },
  ),
  made(
    'an entry of an unknown type, so that pdf.js searches streams for objects',
    (signed) => {
      const section = sectionStream(
        signed,
        [
          [50, 3],
          [98, 1, signed.length],
        ],
        '/Prev $PREV',
      );
      return Buffer.concat([signed, Buffer.from(`${section}startxref\n${signed.length}\n%%EOF\n`, 'latin1')]);
    },
    { original: makePdf({ references: 'stream' }), code: 'pdf-cross-reference-broken' },
  ),
  made(
    'information that is another object, so that poppler searches streams for objects',
    (signed) => {
      const entries = `60 2\n${entryOf(signed.length)}${entryOf(signed.length)}`;
      return withTable(signed, '60 0 obj\n<< >>\nendobj\n', entries, '/Info 61 0 R');
    },
    {
      original: makePdf({ catalog: '/X 5 0 R', objects: [streamOf(`\n4 0 obj\n${stream('Forged')}\nendobj\n`)] }),
      code: 'pdf-cross-reference-broken',
    },
  ),
  made('an angle as a real number, which poppler does not take', onPage('/Rotate 180', '/Rotate 180.0'), {
    original: makePdf({ page: '/Rotate 180' }),
  }),
  ...['Metadata', 'DSS', 'Extensions', 'Version'].map((key) => ({
    name: `a catalog that is also the drawings of a page: /${key}`,
    original: withResources(
      makePdf({ isShownByPage: true, page: '/Contents 5 0 R', objects: [streamOf(`/${key} Do`)] }),
      '<< /XObject 1 0 R >>',
    ),
    attack: inCatalog(/>>$/, `/${key} 50 0 R >>`, { 50: stream('Forged') }),
  })),
  made('a list of annotations that is also what a page shows', withItem(stream('Forged').replace('<<', FIELD)), {
    original: makePdf({ page: '/Annots 5 0 R /Contents 5 0 R', isShownByPage: true, objects: ['[]'] }),
  }),
  made(
    'a stream in the place of a dictionary with the same entries',
    updated({ 5: '<< /Length 3 >>\nstream\nq Q\nendstream' }),
    { original: makePdf({ page: '/X 5 0 R', objects: ['<< /Length 3 >>'] }) },
  ),
  made(
    'an empty field that gets the signature of another one, and an appearance',
    (signed) => {
      const value = /\/V (\d+ 0 R)/.exec(signed.toString('latin1'))?.[0];
      return updated({ 5: `${FIELD} ${value} /AP << /N 50 0 R >> >>`, 50: stream('Forged') })(signed);
    },
    {
      original: makePdf({
        catalog: '/AcroForm << /Fields [5 0 R] >>',
        page: '/Annots [5 0 R]',
        objects: [`${FIELD} >>`],
      }),
    },
  ),
  made(
    'two endless lists of equal objects, of other lengths',
    (signed) => withUpdate(signed, { 5: '<< /Next 200 0 R >>', ...cycle(103, 200) }, { trailer: '', size: 400 }),
    { original: makePdf({ page: '/X 5 0 R', objects: Object.values(cycle(101, 5)) }) },
  ),
  ...[
    { what: 'an annotation', number: 6, to: '60 0 R', where: '/Annots [0] /OC' },
    { what: 'an annotation, in its dictionary', number: 6, to: LAYER, where: '/Annots [0] /OC' },
    { what: 'the list of hidden ones', number: 1, to: '60 0 R', where: '/OFF [0]' },
    { what: 'the list of hidden ones, in the list', number: 1, to: LAYER, where: '/OFF [0]' },
  ].map(({ what, number, to, where }) => ({
    name: `an equal layer for ${what}, so that poppler shows what is hidden`,
    original: makePdf({
      catalog: '/OCProperties << /OCGs [5 0 R] /D << /OFF [5 0 R] >> >>',
      page: '/Annots [6 0 R]',
      objects: [LAYER, STAMP.replace('/F 2', '/OC 5 0 R')],
    }),
    attack: (signed: Buffer) =>
      updated({ 60: LAYER, [number]: objectOf(signed, number).replace(/(\/OC |\/OFF \[)5 0 R/, `$1${to}`) })(signed),
    where,
  })),
  made(
    'a page in the list of pages, where poppler does not find it',
    (signed) => updated({ 2: objectOf(signed, 2).replace('3 0 R', objectOf(signed, 3)) })(signed),
    { where: 'page 1' },
  ),
];

const changing = attackOn(makePdf({ references: 'stream' }));

/** Changes after which the document is not read at all. */
export const UNREADABLE: readonly Attack[] = [
  changing(
    'a size that makes the document linearised, so that readers start elsewhere',
    (signed) => {
      const added = (text: string) => updated({ 50: `(${text})` })(signed);
      const rest = added('x'.repeat(20_000)).length - 20_000;
      return added('x'.repeat(50_000 - rest));
    },
    { original: makePdf({ catalog: '/Linearized 1 /L 50000 /H [100 20] /O 3 /E 500 /N 1 /T 500' }) },
  ),
  changing('an object twice in one table', (signed) => {
    const entries = `4 1\n${entryOf(offsetOf(signed, '4 0'))}4 1\n${entryOf(signed.length)}`;
    return withTable(signed, `4 0 obj\n${stream('Forged')}\nendobj\n`, entries);
  }),
  changing('a real number for the offset of the signed section, which MuPDF does not take', (signed) =>
    edited(updated({ 50: 'null' })(signed), /\/Prev (\d+)(?=[^/]*$)/, '/Prev $1.0'),
  ),
  changing('white space at the end, so that readers do not find startxref', (signed) =>
    Buffer.concat([signed, Buffer.alloc(3000, ' ')]),
  ),
];
