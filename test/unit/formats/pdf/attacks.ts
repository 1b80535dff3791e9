/** Attacks on signed documents by class (pdf-insecurity.org), each made from a signed document by a script. */

import { makePdf, objectStream, withUpdate } from './make-pdf.ts';

export interface Attack {
  readonly name: string;
  /** Signed by `signBytes`: the signature is object 7, its field object 8. */
  readonly original: Buffer;
  readonly certify?: string;
  attack(signed: Buffer): Buffer;
  /** What `verify` finds. Default: `pdf-changed-after-signing`. */
  readonly code?: string;
  /** Words of its message. */
  readonly where?: string;
  /** Default: broken. */
  readonly weight?: 'unsupported';
  /** What pdfsig of poppler 22.12 says of the signature, which does not look at what updates change. Default: valid. */
  readonly pdfsig?: 'invalid' | 'no signature';
}

const NOTE = '<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (a note) >>';
const TEXT_FIELD = '<< /Type /Annot /Subtype /Widget /FT /Tx /T (Sum) /V (1) /Rect [0 0 9 9] /P 3 0 R >>';
const ORIGINAL = makePdf({
  catalog: '/AcroForm << /Fields [6 0 R] >>',
  page: '/Annots [5 0 R 6 0 R]',
  objects: [NOTE, TEXT_FIELD],
});
export const stream = (text: string) => {
  const shown = `BT /F1 24 Tf 20 100 Td (${text}) Tj ET`;
  return `<< /Length ${shown.length} >>\nstream\n${shown}\nendstream`;
};
type Text = string | ((found: string) => string);
type Objects = Readonly<Record<number, string>>;
export const edited = (bytes: Buffer, from: string | RegExp, to: Text): Buffer => {
  const text = bytes.toString('latin1');
  return Buffer.from(typeof to === 'string' ? text.replace(from, to) : text.replace(from, to), 'latin1');
};
const edit = (from: string | RegExp, to: Text) => (signed: Buffer) => edited(signed, from, to);
export const updated =
  (objects: Objects, trailer = '') =>
  (signed: Buffer) =>
    withUpdate(signed, objects, { trailer, size: 99 });
/** Of an object of the signed document. */
export const objectOf = (signed: Buffer, number: number): string => {
  const text = signed.toString('latin1');
  const start = text.lastIndexOf(`\n${number} 0 obj\n`) + `\n${number} 0 obj\n`.length;
  return text.slice(start, text.indexOf('\nendobj', start));
};
/** An update in which this object has another text in the place of that. */
const changing =
  (number: number) =>
  (from: string | RegExp, to: string, more: Objects = {}) =>
  (signed: Buffer) =>
    updated({ ...more, [number]: objectOf(signed, number).replace(from, to) })(signed);
export const inCatalog = changing(1);
export const onPage = changing(3);
export const pageWith = (signed: Buffer, from: string | RegExp, to: string): string =>
  objectOf(signed, 3).replace(from, to);
export const ANNOTS = /\/Annots \[([^\]]*)\]/;
export const FIELDS = /\/Fields \[([^\]]*)\]/;

/** The number of the form. */
const formOf = (signed: Buffer): number => Number(/\/AcroForm (\d+) 0 R/.exec(objectOf(signed, 1))?.[1]);
export const formWith = (signed: Buffer, from: string | RegExp, to: string): Readonly<Record<number, string>> => ({
  [formOf(signed)]: objectOf(signed, formOf(signed)).replace(from, to),
});
export const inForm =
  (from: string | RegExp, to: string, more: Objects = {}) =>
  (signed: Buffer) =>
    updated({ ...more, ...formWith(signed, from, to) })(signed);

/** An update without objects. */
function tableAlone(signed: Buffer, number: number, offset: number): Buffer {
  const start = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(signed.toString('latin1'))?.[1];
  const entry = `${String(offset).padStart(10, '0')} 00000 n \n`;
  const table = `xref\n${number} 1\n${entry}trailer\n<< /Size 20 /Root 1 0 R /Prev ${start} >>\n`;
  return Buffer.concat([signed, Buffer.from(`${table}startxref\n${signed.length}\n%%EOF\n`)]);
}

/** pdfsig notices these, too. */
const RANGE_WRONG = { code: 'pdf-byte-range-wrong', pdfsig: 'invalid' } as const;
const CONTENTS_MISSING = { code: 'pdf-contents-missing', pdfsig: 'invalid' } as const;
const CONTENTS = /\/Contents <[0-9A-F]{100,}>/;
const WITH_NOTE = onPage('[5 0 R', '[5 0 R 10 0 R', { 10: NOTE });
const FILLED = TEXT_FIELD.replace('(1)', '(9)');

type MadeAttack = Omit<Attack, 'original'> & Partial<Pick<Attack, 'original'>>;

const MADE: readonly MadeAttack[] = [
  {
    name: 'signature wrapping: the second range starts later',
    attack: edit(/(\/ByteRange \[0 \d+ +)(\d+)/, (found) => found.replace(/\d(?=\D*$)/, '9')),
    ...RANGE_WRONG,
  },
  {
    name: 'overlapping ranges',
    attack: edit(/\/ByteRange \[0 (\d+)( +)(\d+)/, (found) => found.replace(/(\d+)( +)(\d+)$/, '$1$2$1')),
    ...RANGE_WRONG,
  },
  {
    name: 'universal forgery: no /ByteRange',
    attack: edit('/ByteRange', '/ByteRangX'),
    ...RANGE_WRONG,
  },
  {
    name: 'universal forgery: no /Contents',
    attack: edit('/Contents <', '/Contentz <'),
    ...CONTENTS_MISSING,
  },
  {
    name: 'bytes after the CMS in /Contents',
    attack: edit(/00000000>/, 'deadbeef>'),
    code: 'hidden-bytes',
  },
  {
    name: 'incremental saving: other contents of the page',
    where: 'page 1, /Contents',
    attack: updated({ 4: stream('Forged') }),
  },
  {
    name: 'incremental saving: another page tree',
    attack: updated({ 2: '<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 2 >>' }),
  },
  {
    name: 'incremental saving: objects without a cross-reference',
    attack: (signed) => Buffer.concat([signed, Buffer.from(`4 0 obj\n${stream('Forged')}\nendobj\n`)]),
    code: 'hidden-bytes',
  },
  {
    name: 'incremental saving: another catalog',
    attack: (signed) =>
      edited(
        updated({ 10: '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [8 0 R] >> >>' })(signed),
        /\/Root 1 0 R(?=[^/]*\/Prev[^/]*$)/,
        '/Root 10 0 R',
      ),
  },
  {
    name: 'shadow attack: a page that shows other objects',
    attack: onPage('/Contents 4 0 R', '/Contents 10 0 R', { 10: stream('Forged') }),
  },
  {
    name: 'shadow attack: a comment that hides what is below it, on a certified document',
    certify: 'forms',
    weight: 'unsupported',
    where: 'page 1, /Annots [',
    attack: WITH_NOTE,
  },
  {
    name: 'shadow attack: another value of a form field, on a document certified without changes',
    certify: 'no-changes',
    attack: updated({ 6: FILLED }),
  },
  {
    name: 'universal forgery: a negative length in /ByteRange',
    attack: edit(/\/ByteRange \[0 \d/, '/ByteRange [0 -'),
    ...RANGE_WRONG,
  },
  {
    name: 'universal forgery: /ByteRange null',
    attack: edit(/\/ByteRange \[[^\]]*\]/, (found) => '/ByteRange null'.padEnd(found.length)),
    ...RANGE_WRONG,
  },
  {
    name: 'universal forgery: /Contents without digits',
    attack: edit(CONTENTS, (found) => '/Contents <>'.padEnd(found.length)),
    ...CONTENTS_MISSING,
  },
  {
    name: 'universal forgery: /Contents null',
    attack: edit(CONTENTS, (found) => '/Contents null'.padEnd(found.length)),
    ...CONTENTS_MISSING,
  },
  {
    name: 'universal forgery: /Contents of zeros',
    attack: edit(/\/Contents <[0-9A-F]{100,}/, (found) => found.replace(/[0-9A-F](?=[0-9A-F]*$)/g, '0')),
    code: 'cms-malformed',
    pdfsig: 'invalid',
  },
  {
    name: 'incremental saving: another signature dictionary in the place of the signed one',
    attack: (signed) => updated({ 7: objectOf(signed, 7).replace('/Filter', '/Reason (Forged) /Filter') })(signed),
    code: 'pdf-byte-range-wrong',
  },
  {
    name: 'shadow attack: a table alone, which leads to an object of an earlier revision',
    original: withUpdate(makePdf({ text: 'Forged' }), { 4: stream('Hello') }, { size: 4 }),
    attack: (signed) => tableAlone(signed, 4, signed.indexOf('4 0 obj')),
  },
  {
    name: 'shadow attack: an object that the signed document refers to and does not have',
    original: makePdf({
      page: '/Annots [5 0 R]',
      objects: ['<< /Type /Annot /Subtype /Stamp /Rect [0 0 9 9] /AP << /N 50 0 R >> >>'],
    }),
    attack: updated({ 50: stream('Forged') }),
  },
  {
    name: 'shadow attack: another font',
    original: makePdf({ page: '/Fonts 5 0 R', objects: ['<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'] }),
    attack: updated({ 5: '<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>' }),
  },
  ...(
    [
      ['information about the document', { trailer: '/Info 4 0 R' }],
      ['metadata', { catalog: '/Metadata 4 0 R' }],
      ['validation data', { catalog: '/DSS << /Certs [4 0 R] >>' }],
      [
        'the appearance of a field',
        { catalog: '/AcroForm << /Fields [5 0 R] >>', objects: [TEXT_FIELD.replace('/V', '/AP << /N 4 0 R >> /V')] },
      ],
    ] as const
  ).map(([what, shape]) => ({
    name: `shadow attack: what a page shows is also ${what}`,
    original: makePdf(shape),
    attack: updated({ 4: stream('Forged') }),
  })),
  {
    name: 'shadow attack: a list of fields that is also what a page shows',
    original: makePdf({ page: '/Contents 5 0 R', objects: ['[]'], isShownByPage: true }),
    attack: (signed) => {
      const field = stream('Forged').replace('<<', '<< /FT /Sig /T (x)');
      const catalog = '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields 5 0 R >> >>';
      const list = /\/Fields \[(\d+ 0 R)\]/.exec(signed.toString('latin1'))?.[1];
      return withUpdate(signed, { 1: catalog, 5: `[${list} 10 0 R]`, 10: field }, { size: 20 });
    },
  },
  {
    name: 'certified document: an annotation that calls itself a signature',
    certify: 'no-changes',
    attack: onPage('[5 0 R', '[5 0 R 10 0 R', { 10: NOTE.replace('/Subtype', '/FT /Sig /Subtype') }),
  },
  {
    name: 'certified document: a text field that calls itself a timestamp',
    certify: 'forms',
    weight: 'unsupported',
    where: 'the catalog, /AcroForm /Fields [2]',
    attack: inForm('8 0 R]', '8 0 R 10 0 R]', {
      10: TEXT_FIELD.replace('(Sum)', '(More)').replace('(1)', '<< /Type /DocTimeStamp >>'),
    }),
  },
];

const EMPTY_SIGNATURE = '<< /Type /Annot /Subtype /Widget /FT /Sig /T (Approval) /Rect [0 0 300 200] /P 3 0 R >>';
const FORM = { catalog: '/AcroForm << /Fields [5 0 R] >>', page: '/Annots [5 0 R]' };
const STAMP = '<< /Type /Annot /Subtype /Stamp /Rect [0 0 9 9] /AP << /N 4 0 R >> >>';
/** Adds a signature field to the form of the signed document, and this to its page. */
const withNestedField =
  (kid: string, onPage = '') =>
  (signed: Buffer) =>
    withUpdate(signed, {
      ...formWith(signed, FIELDS, '/Fields [$1 50 0 R]'),
      3: pageWith(signed, ANNOTS, `/Annots [$1 ${onPage}]`),
      50: '<< /FT /Sig /T (nested) /Kids [51 0 R] >>',
      51: kid,
      52: stream('Forged'),
    });

const TAGGED = makePdf({
  catalog: '/StructTreeRoot 5 0 R',
  objects: [
    '<< /Type /StructTreeRoot /K [6 0 R] /ParentTree 7 0 R /ParentTreeNextKey 1 >>',
    '<< /Type /StructElem /S /Document /P 5 0 R /K [8 0 R] >>',
    '<< /Nums [0 [8 0 R]] >>',
    '<< /Type /StructElem /S /P /P 6 0 R /Pg 3 0 R /K 0 >>',
  ],
});

/** The structure of a tagged document, which this program does not compare: also a new element for a signature field, as iText writes. */
const FORGED_STRUCTURES: readonly MadeAttack[] = [
  { what: 'an element in the structure for a signature field' },
  { what: 'an element in the structure that speaks', element: '/ActualText (Forged)' },
  {
    what: 'a page that is added to the structure and gets a tab order, as iText does',
    onPage: '/StructParents 2 /Tabs /S',
    where: 'page 1, /StructParents',
  },
].map(({ what, element = '', onPage = '', where = '/StructTreeRoot' }) => ({
  name: what,
  original: TAGGED,
  where,
  weight: 'unsupported',
  attack: (signed: Buffer) =>
    withUpdate(signed, {
      ...formWith(signed, FIELDS, '/Fields [$1 50 0 R]'),
      3: pageWith(signed, ANNOTS, `${onPage} /Annots [$1 50 0 R]`),
      6: '<< /Type /StructElem /S /Document /P 5 0 R /K [8 0 R 51 0 R] >>',
      50: '<< /Type /Annot /Subtype /Widget /FT /Sig /T (later) /Rect [0 0 0 0] /P 3 0 R /StructParent 1 >>',
      51: `<< /Type /StructElem /S /Form /P 6 0 R ${element} /K << /Type /OBJR /Obj 50 0 R >> >>`,
    }),
}));

/** The ways in which roles of objects were forged. */
const FORGED_ROLES: readonly MadeAttack[] = [
  ...['/Metadata 5 0 R', '/DSS << /Certs [5 0 R] >>', '/AcroForm << /Fields [] /DR << /X 5 0 R >> >>'].map(
    (catalog) => ({
      name: `an object stream with other pages, which the catalog also names: ${catalog}`,
      original: makePdf({ references: 'compressed', catalog }),
      attack: (signed: Buffer) =>
        withUpdate(signed, {
          5: objectStream([
            { number: 1, value: 'null' },
            { number: 2, value: '<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 2 >>' },
          ]),
        }),
    }),
  ),
  {
    name: 'an object stream in which another object is at the index of the pages',
    original: makePdf({ references: 'compressed' }),
    attack: (signed) =>
      withUpdate(signed, {
        5: objectStream([
          { number: 2, value: '<< /Type /Pages /Kids [3 0 R] /Count 1 >>' },
          { number: 9, value: '<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 2 >>' },
        ]),
      }),
    where: 'the catalog, /Pages',
  },
  {
    name: 'a raised generation number, so that a reference leads nowhere',
    certify: 'forms',
    where: 'page 1, /Contents',
    attack: (signed) => {
      const changed = updated({ 4: stream('Hello') })(signed).toString('latin1');
      const added = changed.slice(signed.length).replace('4 0 obj', '4 1 obj').replace(' 00000 n', ' 00001 n');
      return Buffer.from(changed.slice(0, signed.length) + added, 'latin1');
    },
  },
  {
    name: 'an array of contents in another order',
    original: makePdf({ page: '/Contents 5 0 R', isShownByPage: true, objects: ['[4 0 R 6 0 R]', stream('Over')] }),
    attack: updated({ 5: '[6 0 R 4 0 R]' }),
    where: 'page 1, /Contents [',
  },
  {
    name: 'annotations in another order',
    attack: onPage('5 0 R 6 0 R', '6 0 R 5 0 R'),
    where: 'page 1, /Annots [',
  },
  {
    name: 'a new field that claims a comment as its widget, which looks different now',
    original: makePdf({ page: '/Annots [5 0 R]', objects: [STAMP] }),
    attack: (signed) =>
      withNestedField(STAMP.replace('>> >>', '>> /Parent 50 0 R >>').replace('4 0', '52 0'))(
        withUpdate(
          signed,
          { 5: STAMP.replace('4 0', '52 0').replace('>> >>', '>> /Parent 50 0 R >>'), 52: stream('Forged') },
          { size: 60 },
        ),
      ),
  },
  {
    name: 'a new field with a visible widget two levels below it',
    certify: 'forms',
    weight: 'unsupported',
    attack: withNestedField('<< /T (kid) /Kids [53 0 R] /Parent 50 0 R >>', '51 0 R'),
  },
  {
    name: 'a new field with a widget that starts an action',
    attack: withNestedField(
      '<< /Type /Annot /Subtype /Widget /Rect [0 0 0 0] /AA << /PO << /S /JavaScript >> >> >>',
      '51 0 R',
    ),
  },
  {
    name: 'a new field with an invented value',
    attack: withNestedField('<< /T (kid) /FT /Sig /V << /Type /Sig >> /Parent 50 0 R >>'),
  },
  {
    name: 'a new field with the name of another one',
    attack: inForm(FIELDS, '/Fields [$1 50 0 R]', { 50: '<< /FT /Sig /T (Sum) >>' }),
  },
  {
    name: 'a page that is also the resources of another, with other metadata',
    original: makePdf({ page: '/Metadata 4 0 R' }),
    attack: onPage('/Metadata 4 0 R', '/Metadata 50 0 R', { 50: stream('Forged') }),
    where: 'page 1, /Metadata',
  },
  {
    name: 'a widget of the signed document that no page showed',
    certify: 'no-changes',
    original: makePdf({ ...FORM, page: '', objects: [EMPTY_SIGNATURE] }),
    attack: onPage(ANNOTS, '/Annots [$1 5 0 R]'),
    where: 'page 1, /Annots [1]',
  },
  {
    name: 'an update whose table leads to another object in the signed bytes',
    original: makePdf({ page: '/Fonts [5 0 R]', objects: ['<< /A 1 >>', '<< /A (5 0 obj << /A 2 >> endobj) >>'] }),
    attack: (signed) => tableAlone(signed, 5, signed.indexOf('(5 0 obj') + 1),
    where: 'object 5',
  },
  ...[
    ['/DR', '/DR << /Font << /F 50 0 R >> >>'],
    ['/DA', '/DA (/F1 9 Tf)'],
    ['/NeedAppearances', '/NeedAppearances true'],
  ].map(([key, entry]) => ({
    name: `another ${key} of the form`,
    original: makePdf({ ...FORM, objects: [TEXT_FIELD] }),
    attack: inForm('/Fields', `${entry} /Fields`),
    where: `the catalog, /AcroForm ${key}`,
  })),
  {
    name: 'another font of a form that has a text field',
    original: makePdf({
      ...FORM,
      catalog: '/AcroForm << /Fields [5 0 R] /DR << /Font << >> >> >>',
      objects: [TEXT_FIELD],
    }),
    attack: inForm('/Font <<', '/Font << /F 50 0 R', { 50: '<< >>' }),
    where: 'the catalog, /AcroForm /DR /Font /F',
  },
  {
    name: 'another appearance of a field',
    original: makePdf({ ...FORM, objects: [TEXT_FIELD.replace('/V', '/AP << /N 6 0 R >> /V'), stream('1')] }),
    attack: updated({ 6: stream('9') }),
    where: '/AP /N',
  },
  {
    name: 'an empty signature field that gets an appearance and stays unsigned',
    original: makePdf({ ...FORM, objects: [EMPTY_SIGNATURE] }),
    attack: updated({ 5: EMPTY_SIGNATURE.replace('>>', '/AP << /N 50 0 R >> >>'), 50: stream('Forged') }),
    where: '/AP',
  },
  {
    name: 'an empty signature field that gets an invented value',
    original: makePdf({ ...FORM, objects: [EMPTY_SIGNATURE] }),
    attack: updated({ 5: EMPTY_SIGNATURE.replace('>>', '/V << /Type /Sig >> >>') }),
    where: '/V',
    // Of the invented one, which it lists first.
    pdfsig: 'invalid',
  },
  {
    name: 'a lower version',
    original: makePdf({ catalog: '/Version /1.7' }),
    attack: inCatalog('/1.7', '/1.4'),
    where: 'the catalog, /Version',
  },
  {
    name: 'an action when the document is opened',
    certify: 'comments',
    attack: inCatalog('/Pages', '/OpenAction << /S /JavaScript >> /Pages'),
    where: 'the catalog, /OpenAction',
  },
  {
    name: 'a filled form, without certification',
    attack: updated({ 6: FILLED }),
    where: '/V',
  },
  {
    name: 'a comment, without certification',
    attack: WITH_NOTE,
  },
  {
    name: 'a filled form that the certification may allow',
    certify: 'forms',
    weight: 'unsupported',
    attack: updated({ 6: FILLED }),
  },
  {
    name: 'a comment that the certification may allow',
    certify: 'comments',
    weight: 'unsupported',
    attack: WITH_NOTE,
  },
  {
    name: 'other contents of a page, and a filled form that the certification allows',
    certify: 'forms',
    where: 'page 1, /Contents',
    attack: updated({ 4: stream('Forged'), 6: FILLED }),
  },
  {
    name: 'a signature field in a document certified without changes',
    certify: 'no-changes',
    attack: withNestedField('<< /Type /Annot /Subtype /Widget /Rect [0 0 0 0] /P 3 0 R >>', '51 0 R'),
  },
  {
    name: 'an object of an update that its table does not list',
    code: 'hidden-bytes',
    attack: (signed) => edited(updated({ 5: NOTE, 10: NOTE })(signed), /\n10 1\n\d{10} 00000 n (?=\ntrailer)/, ''),
  },
  {
    name: 'bytes between the objects of an update',
    code: 'hidden-bytes',
    attack: updated({ 5: `${NOTE}\nendobj\n%hidden`, 6: TEXT_FIELD }),
  },
];

/** A change where the certification allows none. */
const CERTIFIED_STRUCTURE: MadeAttack = {
  name: 'another element in the structure, after a certification that allows no changes',
  original: TAGGED,
  certify: 'no-changes',
  where: '/StructTreeRoot',
  attack: updated({ 6: '<< /Type /StructElem /S /Document /P 5 0 R /K [] >>' }),
};

export const ATTACKS: readonly Attack[] = [CERTIFIED_STRUCTURE, ...MADE, ...FORGED_ROLES, ...FORGED_STRUCTURES].map(
  (attack) => ({ original: ORIGINAL, ...attack }),
);

type Allowed = Omit<Attack, 'code' | 'pdfsig' | 'where'> & { readonly code: string | undefined };

const MADE_ALLOWED: readonly (Omit<Allowed, 'original'> & Partial<Pick<Allowed, 'original'>>)[] = [
  {
    name: 'a visible signature field that the certification allows, and that may cover the content',
    certify: 'forms',
    attack: inForm('8 0 R]', '8 0 R 10 0 R]', {
      10: '<< /Type /Annot /Subtype /Widget /FT /Sig /T (Cover) /Rect [0 0 300 200] /P 3 0 R >>',
    }),
    code: 'pdf-changed-later',
  },
  {
    name: 'an invisible signature field with a widget of its own',
    attack: withNestedField('<< /Type /Annot /Subtype /Widget /Rect [0 0 0 0] /P 3 0 R /Parent 50 0 R >>', '51 0 R'),
    code: undefined,
  },
  {
    name: 'an invisible signature field with a widget that does not name it, as pyHanko writes',
    attack: withNestedField('<< /Type /Annot /Subtype /Widget /Rect [0 0 0 0] /P 3 0 R >>', '51 0 R'),
    code: undefined,
  },
  {
    name: 'a new signature field before the others, as e-Szigno writes',
    attack: (signed) =>
      withUpdate(signed, {
        ...formWith(signed, FIELDS, '/Fields [50 0 R $1]'),
        3: pageWith(signed, ANNOTS, '/Annots [$1 50 0 R]'),
        50: '<< /Type /Annot /Subtype /Widget /FT /Sig /T (later) /Rect [0 0 0 0] /P 3 0 R >>',
      }),
    code: undefined,
  },
  {
    name: 'an update that writes the same again, a stream too',
    attack: updated({ 2: '<</Count 1/Kids[3 0 R]/Type/Pages>>', 4: stream('Hello') }),
    code: undefined,
  },
  {
    name: 'a rectangle with real numbers',
    attack: onPage('[0 0 300 200]', '[0.0 0.0 300.0 200.0]'),
    code: undefined,
  },
  {
    name: 'the same stream as another object',
    attack: onPage('/Contents 4 0 R', '/Contents 10 0 R', { 10: stream('Hello') }),
    code: undefined,
  },
  {
    name: 'the same comment as another object',
    attack: onPage('/Annots [5 0 R', '/Annots [10 0 R', { 10: NOTE }),
    code: undefined,
  },
  {
    name: 'validation data, extensions, metadata and a higher version',
    certify: 'no-changes',
    original: makePdf({ catalog: '/Extensions 5 0 R', objects: ['<< >>'] }),
    attack: (signed) => {
      const more = '/DSS << /Certs [50 0 R] >> /Metadata 50 0 R /Version /2.0 /Pages';
      return withUpdate(signed, { 1: objectOf(signed, 1).replace('/Pages', more), 5: '<< /A 1 >>', 50: stream('x') });
    },
    code: undefined,
  },
  ...(['table', 'stream', 'compressed'] as const).map((references) => ({
    name: `other information about the document, in a document with a ${references}`,
    original: makePdf({ references, trailer: '/Info 5 0 R /ID [<00> <00>]', objects: ['<< /ModDate (now) >>'] }),
    attack: updated({ 5: '<< /ModDate (later) >>' }, '/Info 5 0 R /ID [<00> <01>]'),
    code: undefined,
  })),
  {
    name: 'other defaults of a form that has signature fields alone',
    original: makePdf({
      ...FORM,
      catalog: '/AcroForm << /Fields [5 0 R] /DR << /Font << >> >> >>',
      objects: [EMPTY_SIGNATURE],
    }),
    attack: inForm('/DR << /Font <<', '/DA (/F 9 Tf) /DR << /Font << /F 50 0 R', { 50: '<< /Type /Font >>' }),
    code: undefined,
  },
  {
    name: 'a new signature field, in a document that names its catalog as /Data, as signatures of Acrobat do',
    original: makePdf({ page: '/PieceInfo << /Data 1 0 R >>' }),
    attack: withNestedField('<< /Type /Annot /Subtype /Widget /Rect [0 0 0 0] /P 3 0 R /Parent 50 0 R >>', '51 0 R'),
    code: undefined,
  },
  {
    name: 'an update of iText, whose entry leads to the white space before its object',
    attack: (signed) => {
      const bytes = Buffer.concat([signed, Buffer.from('\n')]);
      return edited(
        edited(
          withUpdate(bytes, { 2: objectOf(signed, 2) }, { size: 20 }),
          /startxref(?=\s+\d+\s+%%EOF\s*$)/,
          '%iText-7\nstartxref',
        ),
        String(bytes.length).padStart(10, '0'),
        String(bytes.length - 1).padStart(10, '0'),
      );
    },
    code: undefined,
  },
  {
    name: 'a catalog that no longer names the certification',
    certify: 'forms',
    attack: inCatalog(/\/Perms <<[^>]*>>/, ''),
    code: 'pdf-certification-removed',
  },
];

/** Changes that signers allow, and what `verify` says of them; undefined for nothing. */
export const ALLOWED: readonly Allowed[] = MADE_ALLOWED.map((change) => ({ original: ORIGINAL, ...change }));
