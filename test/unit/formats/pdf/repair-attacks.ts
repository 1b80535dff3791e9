/**
 * Attacks on signed documents that readers repair, or read with another length: poppler shows other content in all that
 * say so. Repairing readers take the last object with a number in the file, also one inside a stream.
 */

import {
  ANNOTS,
  type Attack,
  attackOn,
  edited,
  FIELDS,
  formWith,
  inCatalog,
  pageWith,
  stream,
  streamOf,
  updated,
} from './attacks.ts';
import { makePdf, withUpdate } from './make-pdf.ts';

const hiding = (number: number): string => streamOf(`\n${number} 0 obj\n${stream('Forged')}\nendobj\n`);

/** With a second page, whose contents are object 6: readers read them after the annotations of the first. */
function withTwoPages(page = '', objects: readonly string[] = []): Buffer {
  const second = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 6 0 R >>';
  const bytes = makePdf({ page, catalog: '/X 7 0 R', objects: [second, stream('Second'), ...objects] });
  return withUpdate(bytes, { 2: '<< /Type /Pages /Kids [3 0 R 5 0 R] /Count 2 >>' });
}

const BROKEN = withTwoPages('/Annots [70 0 R]');
const withCatalog = (entry: string, objects: Readonly<Record<number, string>>) =>
  inCatalog(/>>$/, `${entry} >>`, objects);

/** A new signature field with this entry. */
const withField = (entry: string) => (signed: Buffer) =>
  updated({
    ...formWith(signed, FIELDS, '/Fields [$1 50 0 R]'),
    3: pageWith(signed, ANNOTS, '/Annots [$1 50 0 R]'),
    50: `<< /Type /Annot /Subtype /Widget /FT /Sig /T (later) /Rect [0 0 0 0] ${entry} >>`,
  })(signed);

/** Other contents of the second page, and a revision after them that leads to the signed ones again. */
function withReturn(signed: Buffer): Buffer {
  const offset = String(signed.lastIndexOf('\n6 0 obj') + 1).padStart(10, '0');
  const forged = updated({ 6: stream('Forged') })(signed);
  return edited(updated({ 90: 'null' })(forged), /\nxref\n(?=90 1\n)/, (found) => `${found}6 1\n${offset} 00000 n \n`);
}

/** A font whose name is in an object stream: /Symbol, and with a longer stream another one. */
function withNameInStream(): Buffer {
  const data = '7 0 /Symbol';
  const objects = [
    `<< /Type /ObjStm /N 1 /First 4 /Length 6 0 R >>\nstream\n${data}endstream \nendstream`,
    String(data.length),
  ];
  return edited(makePdf({ references: 'stream', objects, inStreams: [[7, 5]] }), '/BaseFont /Helvetica', (found) =>
    '/BaseFont 7 0 R'.padEnd(found.length),
  );
}

/** The update is so long that `endstream` is where the /Length of the signed stream says. */
function untilLength(signed: Buffer): Buffer {
  const end = signed.indexOf('stream\nBT') + 'stream\n'.length + 9000;
  const shown = '\nBT /F1 24 Tf 20 50 Td (Forged) Tj ET\n';
  const length = end - signed.length - '50 0 obj\n<< /Length 0000 >>\nstream\n'.length;
  return updated({ 50: `<< /Length ${length} >>\nstream\n${shown.padEnd(length)}endstream` })(signed);
}

const FORM_WITH_FONT = '/AcroForm << /Fields [] /DR << /Font << /F 5 0 R >> >> /DA (/F 12 Tf) >>';
const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';

const made = attackOn(makePdf());

export const REPAIR_ATTACKS: readonly Attack[] = [
  ...[
    { where: 'a stream', value: hiding(6) },
    { where: 'a stream, with other white space', value: hiding(6).replace('6 0 obj', '6\x0b0\x0bobj') },
    { where: 'a stream, with zeros', value: hiding(6).replace('6 0 obj', `${'0'.repeat(20)}6 0 obj`) },
    { where: 'a text', value: `(${hiding(6).replaceAll(/[()]/g, '\\$&')})` },
    { where: 'a stream, as a trailer', value: streamOf('\ntrailer\n<< /Root 80 0 R >>\n') },
    { where: 'a stream of references', value: streamOf('').replace('<<', '<< /Type /XRef /Root 80 0 R') },
  ].map(({ where, value }) => ({
    name: `validation data that hide another object in ${where}, and a reference that leads nowhere`,
    original: BROKEN,
    attack: withCatalog('/DSS << /Certs [60 0 R] >>', { 60: value }),
    code: 'hidden-bytes',
  })),
  ...[
    `(${hiding(6).replaceAll(/[()]/g, '\\$&')})`,
    '(\ntrailer\n<< /Root 80 0 R >>)',
    '(\ntrailer\n<< /R#6fot 80 0 R >>)',
  ].map((text) => ({
    name: `a trailer that hides ${text.slice(0, 30)}`,
    original: BROKEN,
    attack: updated({ 90: 'null' }, `/X ${text}`),
    code: 'hidden-bytes',
  })),
  made('other contents that a further revision takes back, and a reference that leads nowhere', withReturn, {
    original: BROKEN,
    code: 'hidden-bytes',
  }),
  ...['/AP << /N 77 0 R >>', '/AP << /N 4 3 R >>', '/MK << /I 77 0 R >>'].map((entry) => ({
    name: `a new field that makes readers repair the document: ${entry}`,
    original: withTwoPages('', [hiding(6)]),
    attack: withField(entry),
    where: 'page 1, /Annots [',
  })),
  made('information that leads nowhere, so that readers repair the document', updated({ 90: 'null' }, '/Info 77 0 R'), {
    original: withTwoPages('', [hiding(6)]),
    where: 'the catalog, /Info',
  }),
  made('metadata that lead nowhere', withCatalog('/Metadata 77 0 R', {}), {
    original: withTwoPages('', [hiding(6)]),
    where: 'the catalog, /Metadata',
  }),
  made('a stream whose /Length is wrong, and right in a longer file', untilLength, {
    original: edited(makePdf(), '<< /Length 36 >>', () => '<< /Length 9000>>'),
    where: 'page 1, /Contents',
  }),
  made('an object stream that goes on, by a /Length of its own', updated({ 6: '21' }), {
    original: withNameInStream(),
    where: 'object 5',
  }),
  made(
    'a larger count of objects than a signed one that is too small',
    (signed) => updated({ 90: 'null' })(edited(signed, /\/Size 8(?=[^/]*\/Root 1 0 R \/Prev)/, () => '/Size 5')),
    { where: 'the trailer, /Size' },
  ),
  made('another font of a form, with which a comment is drawn', updated({ 5: FONT.replace('Helvetica', 'Symbol') }), {
    original: makePdf({
      catalog: FORM_WITH_FONT,
      page: '/Annots [6 0 R]',
      objects: [FONT, '<< /Type /Annot /Subtype /FreeText /Rect [0 0 200 100] /DA (/F 12 Tf) /Contents (Free) >>'],
    }),
    where: 'the catalog, /AcroForm /DR /Font /F /BaseFont',
  }),
  made('another certification in the catalog', withCatalog('/Perms << /DocMDP 50 0 R >>', { 50: '<< /Type /Sig >>' }), {
    where: 'the catalog, /Perms',
  }),
];
