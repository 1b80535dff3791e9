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
}

const NOTE = '<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (a note) >>';
const TEXT_FIELD = '<< /Type /Annot /Subtype /Widget /FT /Tx /T (Sum) /V (1) /Rect [0 0 9 9] /P 3 0 R >>';
const ORIGINAL = makePdf({
  catalog: '/AcroForm << /Fields [6 0 R] >>',
  page: '/Annots [5 0 R 6 0 R]',
  objects: [NOTE, TEXT_FIELD],
});
export const streamOf = (data: string): string => `<< /Length ${data.length} >>\nstream\n${data}\nendstream`;
export const stream = (text: string): string => streamOf(`BT /F1 24 Tf 20 100 Td (${text}) Tj ET`);
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
/** Value of an object of the signed document. */
export const objectOf = (signed: Buffer, number: number): string => {
  const text = signed.toString('latin1');
  const start = text.lastIndexOf(`\n${number} 0 obj\n`) + `\n${number} 0 obj\n`.length;
  return text.slice(start, text.indexOf('\nendobj', start));
};
/** An update in which `from` is replaced by `to` in this object. */
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

export const startOf = (bytes: Buffer): string =>
  /startxref\s+(\d+)\s+%%EOF\s*$/.exec(bytes.toString('latin1'))?.[1] ?? '';
export const entryOf = (offset: number, kind = 'n') => `${String(offset).padStart(10, '0')} 00000 ${kind} \n`;
/** An update of these bytes, and a table with these entries. */
export function withTable(signed: Buffer, bytes: string, entries: string, trailer = ''): Buffer {
  const table = `xref\n${entries}trailer\n<< /Size 99 /Root 1 0 R /Prev ${startOf(signed)} ${trailer} >>\n`;
  const end = `${table}startxref\n${signed.length + bytes.length}\n%%EOF\n`;
  return Buffer.concat([signed, Buffer.from(bytes + end, 'latin1')]);
}

const RANGE_WRONG = { code: 'pdf-byte-range-wrong' } as const;
const CONTENTS_MISSING = { code: 'pdf-contents-missing' } as const;
const CONTENTS = /\/Contents <[0-9A-F]{100,}>/;
const WITH_NOTE = onPage('[5 0 R', '[5 0 R 10 0 R', { 10: NOTE });
const FILLED = TEXT_FIELD.replace('(1)', '(9)');

export const attackOn =
  (original: Buffer) =>
  (name: string, attack: Attack['attack'], more: Partial<Attack> = {}): Attack => ({ name, attack, original, ...more });
const made = attackOn(ORIGINAL);

const FORGERIES = [
  [
    'the second range starts later',
    /(\/ByteRange \[0 \d+ +)(\d+)/,
    (all) => all.replace(/\d(?=\D*$)/, '9'),
    RANGE_WRONG,
  ],
  ['overlapping ranges', /\/ByteRange \[0 \d+ +\d+/, (all) => all.replace(/(\d+)( +)(\d+)$/, '$1$2$1'), RANGE_WRONG],
  ['no /ByteRange', '/ByteRange', '/ByteRangX', RANGE_WRONG],
  ['/ByteRange null', /\/ByteRange \[[^\]]*\]/, (all) => '/ByteRange null'.padEnd(all.length), RANGE_WRONG],
  ['no /Contents', '/Contents <', '/Contentz <', CONTENTS_MISSING],
  ['/Contents without digits', CONTENTS, (all) => '/Contents <>'.padEnd(all.length), CONTENTS_MISSING],
] satisfies readonly (readonly [string, string | RegExp, Text, Partial<Attack>])[];

const MADE: readonly Attack[] = [
  ...FORGERIES.map(([what, from, to, found]) => made(`universal forgery: ${what}`, edit(from, to), found)),
  made('bytes after the CMS in /Contents', edit(/00000000>/, 'deadbeef>'), { code: 'hidden-bytes' }),
  made('incremental saving: other contents of the page', updated({ 4: stream('Forged') }), {
    where: 'page 1, /Contents',
  }),
  made(
    'incremental saving: objects without a cross-reference',
    (signed) => Buffer.concat([signed, Buffer.from(`4 0 obj\n${stream('Forged')}\nendobj\n`)]),
    { code: 'hidden-bytes' },
  ),
  made('incremental saving: another catalog', (signed) =>
    edited(
      updated({ 10: '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [8 0 R] >> >>' })(signed),
      /\/Root 1 0 R(?=[^/]*\/Prev[^/]*$)/,
      '/Root 10 0 R',
    ),
  ),
  made('shadow attack: a comment that hides what is below it, on a certified document', WITH_NOTE, {
    certify: 'forms',
    weight: 'unsupported',
    where: 'page 1, /Annots [',
  }),
  made(
    'universal forgery: /Contents of zeros',
    edit(/\/Contents <[0-9A-F]{100,}/, (found) => found.replace(/[0-9A-F](?=[0-9A-F]*$)/g, '0')),
    { code: 'cms-malformed' },
  ),
  made(
    'incremental saving: another signature dictionary in the place of the signed one',
    (signed) => updated({ 7: objectOf(signed, 7).replace('/Filter', '/Reason (Forged) /Filter') })(signed),
    { code: 'pdf-byte-range-wrong' },
  ),
  made(
    'shadow attack: a table alone, which leads to an object of an earlier revision',
    (signed) => withTable(signed, '', `4 1\n${entryOf(signed.indexOf('4 0 obj'))}`),
    { original: withUpdate(makePdf({ text: 'Forged' }), { 4: stream('Hello') }, { size: 4 }) },
  ),
  made(
    'shadow attack: an object that the signed document refers to and does not have',
    updated({ 50: stream('Forged') }),
    {
      original: makePdf({
        page: '/Annots [5 0 R]',
        objects: ['<< /Type /Annot /Subtype /Stamp /Rect [0 0 9 9] /AP << /N 50 0 R >> >>'],
      }),
    },
  ),
  ...(
    [
      ['information about the document', { trailer: '/Info 4 0 R' }],
      ['metadata', { catalog: '/Metadata 4 0 R' }],
    ] as const
  ).map(([what, shape]) => ({
    name: `shadow attack: what a page shows is also ${what}`,
    original: makePdf(shape),
    attack: updated({ 4: stream('Forged') }),
  })),
  made(
    'shadow attack: a list of fields that is also what a page shows',
    (signed) => {
      const field = stream('Forged').replace('<<', '<< /FT /Sig /T (x)');
      const catalog = '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields 5 0 R >> >>';
      const list = /\/Fields \[(\d+ 0 R)\]/.exec(signed.toString('latin1'))?.[1];
      return withUpdate(signed, { 1: catalog, 5: `[${list} 10 0 R]`, 10: field }, { size: 20 });
    },
    { original: makePdf({ page: '/Contents 5 0 R', objects: ['[]'], isShownByPage: true }) },
  ),
  made(
    'certified document: a text field that calls itself a timestamp',
    inForm('8 0 R]', '8 0 R 10 0 R]', {
      10: TEXT_FIELD.replace('(Sum)', '(More)').replace('(1)', '<< /Type /DocTimeStamp >>'),
    }),
    { certify: 'forms', weight: 'unsupported', where: 'the catalog, /AcroForm /Fields [2]' },
  ),
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
const FORGED_STRUCTURES: readonly Attack[] = [
  { what: 'an element in the structure for a signature field' },
  {
    what: 'a page that is added to the structure and gets a tab order, as iText does',
    onPage: '/StructParents 2 /Tabs /S',
    where: 'page 1, /StructParents',
  },
].map(({ what, onPage = '', where = '/StructTreeRoot' }) => ({
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
      51: `<< /Type /StructElem /S /Form /P 6 0 R /K << /Type /OBJR /Obj 50 0 R >> >>`,
    }),
}));

/** The ways in which roles of objects were forged. */
const FORGED_ROLES: readonly Attack[] = [
  ...['/Metadata 5 0 R', '/AcroForm << /Fields [] /DR << /X 5 0 R >> >>'].map((catalog) => ({
    name: `an object stream with other pages, which the catalog also names: ${catalog}`,
    original: makePdf({ references: 'compressed', catalog }),
    attack: (signed: Buffer) =>
      withUpdate(signed, {
        5: objectStream([
          { number: 1, value: 'null' },
          { number: 2, value: '<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 2 >>' },
        ]),
      }),
  })),
  made(
    'an object stream in which another object is at the index of the pages',
    (signed) =>
      withUpdate(signed, {
        5: objectStream([
          { number: 2, value: '<< /Type /Pages /Kids [3 0 R] /Count 1 >>' },
          { number: 9, value: '<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 2 >>' },
        ]),
      }),
    { original: makePdf({ references: 'compressed' }), where: 'the catalog, /Pages' },
  ),
  made(
    'a raised generation number, so that a reference leads nowhere',
    (signed) => {
      const changed = updated({ 4: stream('Hello') })(signed).toString('latin1');
      const added = changed.slice(signed.length).replace('4 0 obj', '4 1 obj').replace(' 00000 n', ' 00001 n');
      return Buffer.from(changed.slice(0, signed.length) + added, 'latin1');
    },
    { certify: 'forms', where: 'page 1, /Contents' },
  ),
  made('annotations in another order', onPage('5 0 R 6 0 R', '6 0 R 5 0 R'), { where: 'page 1, /Annots [' }),
  made(
    'a new field that claims a comment as its widget, which looks different now',
    (signed) =>
      withNestedField(STAMP.replace('>> >>', '>> /Parent 50 0 R >>').replace('4 0', '52 0'))(
        withUpdate(
          signed,
          { 5: STAMP.replace('4 0', '52 0').replace('>> >>', '>> /Parent 50 0 R >>'), 52: stream('Forged') },
          { size: 60 },
        ),
      ),
    { original: makePdf({ page: '/Annots [5 0 R]', objects: [STAMP] }) },
  ),
  made(
    'a new field with a visible widget two levels below it',
    withNestedField('<< /T (kid) /Kids [53 0 R] /Parent 50 0 R >>', '51 0 R'),
    { certify: 'forms', weight: 'unsupported' },
  ),
  made(
    'a new field with an invented value',
    withNestedField('<< /T (kid) /FT /Sig /V << /Type /Sig >> /Parent 50 0 R >>'),
  ),
  made(
    'a new field with the name of another one',
    inForm(FIELDS, '/Fields [$1 50 0 R]', { 50: '<< /FT /Sig /T (Sum) >>' }),
  ),
  made('a widget of the signed document that no page showed', onPage(ANNOTS, '/Annots [$1 5 0 R]'), {
    certify: 'no-changes',
    original: makePdf({ ...FORM, page: '', objects: [EMPTY_SIGNATURE] }),
    where: 'page 1, /Annots [1]',
  }),
  made(
    'an update whose table leads to another object in the signed bytes',
    (signed) => withTable(signed, '', `5 1\n${entryOf(signed.indexOf('(5 0 obj') + 1)}`),
    {
      original: makePdf({ page: '/Fonts [5 0 R]', objects: ['<< /A 1 >>', '<< /A (5 0 obj << /A 2 >> endobj) >>'] }),
      where: 'object 5',
    },
  ),
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
  made(
    'an empty signature field that gets an appearance and stays unsigned',
    updated({ 5: EMPTY_SIGNATURE.replace('>>', '/AP << /N 50 0 R >> >>'), 50: stream('Forged') }),
    { original: makePdf({ ...FORM, objects: [EMPTY_SIGNATURE] }), where: '/AP' },
  ),
  made(
    'an empty signature field that gets an invented value',
    updated({ 5: EMPTY_SIGNATURE.replace('>>', '/V << /Type /Sig >> >>') }),
    {
      original: makePdf({ ...FORM, objects: [EMPTY_SIGNATURE] }),
      where: '/V', // Of the invented one, which it lists first.
    },
  ),
  made('a lower version', inCatalog('/1.7', '/1.4'), {
    original: makePdf({ catalog: '/Version /1.7' }),
    where: 'the catalog, /Version',
  }),
  made('a filled form, without certification', updated({ 6: FILLED }), { where: '/V' }),
  made('a filled form that the certification may allow', updated({ 6: FILLED }), {
    certify: 'forms',
    weight: 'unsupported',
  }),
  made(
    'a signature field in a document certified without changes',
    withNestedField('<< /Type /Annot /Subtype /Widget /Rect [0 0 0 0] /P 3 0 R >>', '51 0 R'),
    { certify: 'no-changes' },
  ),
  made(
    'an object of an update that its table does not list',
    (signed) => edited(updated({ 5: NOTE, 10: NOTE })(signed), /\n10 1\n\d{10} 00000 n (?=\ntrailer)/, ''),
    { code: 'hidden-bytes' },
  ),
  made('bytes between the objects of an update', updated({ 5: `${NOTE}\nendobj\n%hidden`, 6: TEXT_FIELD }), {
    code: 'hidden-bytes',
  }),
];

export const ATTACKS: readonly Attack[] = [
  made(
    'another element in the structure, after a certification that allows no changes',
    updated({ 6: '<< /Type /StructElem /S /Document /P 5 0 R /K [] >>' }),
    { original: TAGGED, certify: 'no-changes', where: '/StructTreeRoot' },
  ),
  ...MADE,
  ...FORGED_ROLES,
  ...FORGED_STRUCTURES,
];

/** Changes that signers allow, and the code of the finding of `verify`, if any. */
export const ALLOWED: readonly Attack[] = [
  made(
    'a visible signature field that the certification allows, and that may cover the content',
    inForm('8 0 R]', '8 0 R 10 0 R]', {
      10: '<< /Type /Annot /Subtype /Widget /FT /Sig /T (Cover) /Rect [0 0 300 200] /P 3 0 R >>',
    }),
    { certify: 'forms', code: 'pdf-changed-later' },
  ),
  made(
    'an invisible signature field with a widget of its own',
    withNestedField('<< /Type /Annot /Subtype /Widget /Rect [0 0 0 0] /P 3 0 R /Parent 50 0 R >>', '51 0 R'),
  ),
  made(
    'an invisible signature field with a widget that does not name it, as pyHanko writes',
    withNestedField('<< /Type /Annot /Subtype /Widget /Rect [0 0 0 0] /P 3 0 R >>', '51 0 R'),
  ),
  made('a new signature field before the others, as e-Szigno writes', (signed) =>
    withUpdate(signed, {
      ...formWith(signed, FIELDS, '/Fields [50 0 R $1]'),
      3: pageWith(signed, ANNOTS, '/Annots [$1 50 0 R]'),
      50: '<< /Type /Annot /Subtype /Widget /FT /Sig /T (later) /Rect [0 0 0 0] /P 3 0 R >>',
    }),
  ),
  made(
    'an update that writes the same again, a stream too',
    updated({ 2: '<</Count 1/Kids[3 0 R]/Type/Pages>>', 4: stream('Hello') }),
  ),
  made('a rectangle with real numbers', onPage('[0 0 300 200]', '[0.0 0.0 300.0 200.0]')),
  made('the same stream as another object', onPage('/Contents 4 0 R', '/Contents 10 0 R', { 10: stream('Hello') })),
  made('the same comment as another object', onPage('/Annots [5 0 R', '/Annots [10 0 R', { 10: NOTE })),
  made(
    'validation data, extensions, metadata and a higher version',
    (signed) => {
      const more = '/DSS << /Certs [50 0 R] >> /Metadata 50 0 R /Version /2.0 /Pages';
      return withUpdate(signed, { 1: objectOf(signed, 1).replace('/Pages', more), 5: '<< /A 1 >>', 50: stream('x') });
    },
    { certify: 'no-changes', original: makePdf({ catalog: '/Extensions 5 0 R', objects: ['<< >>'] }) },
  ),
  ...(['table', 'stream', 'compressed'] as const).map((references) => ({
    name: `other information about the document, in a document with a ${references}`,
    original: makePdf({ references, trailer: '/Info 5 0 R /ID [<00> <00>]', objects: ['<< /ModDate (now) >>'] }),
    attack: updated({ 5: '<< /ModDate (later) >>' }, '/Info 5 0 R /ID [<00> <01>]'),
  })),
  made(
    'other defaults of a form that has signature fields alone',
    inForm('/DR << /Font <<', '/DA (/F 9 Tf) /DR << /Font << /F 50 0 R', { 50: '<< /Type /Font >>' }),
    {
      original: makePdf({
        ...FORM,
        catalog: '/AcroForm << /Fields [5 0 R] /DR << /Font << >> >> >>',
        objects: [EMPTY_SIGNATURE],
      }),
    },
  ),
  made(
    'a new signature field, in a document that names its catalog as /Data, as signatures of Acrobat do',
    withNestedField('<< /Type /Annot /Subtype /Widget /Rect [0 0 0 0] /P 3 0 R /Parent 50 0 R >>', '51 0 R'),
    { original: makePdf({ page: '/PieceInfo << /Data 1 0 R >>' }) },
  ),
  made('an update of iText, whose entry leads to the white space before its object', (signed) => {
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
  }),
  made('a catalog that no longer names the certification', inCatalog(/\/Perms <<[^>]*>>/, ''), {
    certify: 'forms',
    code: 'pdf-certification-removed',
  }),
];
