/** Attacks on signed documents by class (pdf-insecurity.org), each made from a signed document by a script. */

import { makePdf, withUpdate } from './make-pdf.ts';

export interface Attack {
  readonly name: string;
  /** Signed by `signBytes`: the signature is object 7, its field object 8. */
  readonly original: Buffer;
  readonly certify?: string;
  attack(signed: Buffer): Buffer;
  /** What `verify` finds. */
  readonly code: string;
  /** What pdfsig of poppler 22.12 says of the signature, for comparison: it does not look at what updates change. */
  readonly pdfsig: 'valid' | 'invalid' | 'no signature';
}

const NOTE = '<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (a note) >>';
const TEXT_FIELD = '<< /Type /Annot /Subtype /Widget /FT /Tx /T (Sum) /V (1) /Rect [0 0 9 9] /P 3 0 R >>';
const ORIGINAL = makePdf({
  catalog: '/AcroForm << /Fields [6 0 R] >>',
  page: '/Annots [5 0 R 6 0 R]',
  objects: [NOTE, TEXT_FIELD],
});
const stream = (text: string) => {
  const shown = `BT /F1 24 Tf 20 100 Td (${text}) Tj ET`;
  return `<< /Length ${shown.length} >>\nstream\n${shown}\nendstream`;
};
const edited = (bytes: Buffer, from: string | RegExp, to: string | ((found: string) => string)): Buffer => {
  const text = bytes.toString('latin1');
  return Buffer.from(typeof to === 'string' ? text.replace(from, to) : text.replace(from, to), 'latin1');
};
const updated =
  (objects: Readonly<Record<number, string>>, trailer = '') =>
  (signed: Buffer) =>
    withUpdate(signed, objects, { trailer, size: 8 });
/** Of an object of the signed document. */
const objectOf = (signed: Buffer, number: number): string => {
  const text = signed.toString('latin1');
  const start = text.lastIndexOf(`\n${number} 0 obj\n`) + `\n${number} 0 obj\n`.length;
  return text.slice(start, text.indexOf('\nendobj', start));
};
const pageWith = (signed: Buffer, from: string, to: string): string => objectOf(signed, 3).replace(from, to);

const MADE: readonly (Omit<Attack, 'original'> & Partial<Pick<Attack, 'original'>>)[] = [
  {
    name: 'signature wrapping: the second range starts later',
    attack: (signed) => edited(signed, /(\/ByteRange \[0 \d+ +)(\d+)/, (found) => found.replace(/\d(?=\D*$)/, '9')),
    code: 'pdf-byte-range-wrong',
    pdfsig: 'invalid',
  },
  {
    name: 'overlapping ranges',
    attack: (signed) =>
      edited(signed, /\/ByteRange \[0 (\d+)( +)(\d+)/, (found) => found.replace(/(\d+)( +)(\d+)$/, '$1$2$1')),
    code: 'pdf-byte-range-wrong',
    pdfsig: 'invalid',
  },
  {
    name: 'universal forgery: no /ByteRange',
    attack: (signed) => edited(signed, '/ByteRange', '/ByteRangX'),
    code: 'pdf-byte-range-wrong',
    pdfsig: 'invalid',
  },
  {
    name: 'universal forgery: no /Contents',
    attack: (signed) => edited(signed, '/Contents <', '/Contentz <'),
    code: 'pdf-contents-missing',
    pdfsig: 'invalid',
  },
  {
    name: 'bytes behind the CMS in /Contents',
    attack: (signed) => edited(signed, /00000000>/, 'deadbeef>'),
    code: 'hidden-bytes',
    pdfsig: 'valid',
  },
  {
    name: 'incremental saving: other contents of the page',
    attack: updated({ 4: stream('Forged') }),
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid',
  },
  {
    name: 'incremental saving: another page tree',
    attack: updated({ 2: '<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 2 >>' }),
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid',
  },
  {
    name: 'incremental saving: objects without a cross-reference',
    attack: (signed) => Buffer.concat([signed, Buffer.from(`4 0 obj\n${stream('Forged')}\nendobj\n`)]),
    code: 'hidden-bytes',
    pdfsig: 'valid',
  },
  {
    name: 'incremental saving: another catalog',
    attack: (signed) =>
      edited(
        updated({ 9: '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [8 0 R] >> >>' })(signed),
        /\/Root 1 0 R(?=[^/]*\/Prev[^/]*$)/,
        '/Root 9 0 R',
      ),
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid',
  },
  {
    name: 'shadow attack: a page that shows other objects',
    attack: (signed) =>
      updated({ 3: pageWith(signed, '/Contents 4 0 R', '/Contents 9 0 R'), 9: stream('Forged') })(signed),
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid',
  },
  {
    name: 'shadow attack: a comment that hides what is below it, on a certified document',
    certify: 'forms',
    attack: (signed) => updated({ 3: pageWith(signed, '[5 0 R', '[5 0 R 9 0 R'), 9: NOTE })(signed),
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid',
  },
  {
    name: 'shadow attack: another value of a form field, on a document certified without changes',
    certify: 'no-changes',
    attack: updated({ 6: TEXT_FIELD.replace('(1)', '(9)') }),
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid',
  },
  {
    name: 'universal forgery: a negative length in /ByteRange',
    attack: (signed) => edited(signed, /\/ByteRange \[0 \d/, '/ByteRange [0 -'),
    code: 'pdf-byte-range-wrong',
    pdfsig: 'invalid',
  },
  {
    name: 'universal forgery: /ByteRange null',
    attack: (signed) => edited(signed, /\/ByteRange \[[^\]]*\]/, (found) => '/ByteRange null'.padEnd(found.length)),
    code: 'pdf-byte-range-wrong',
    pdfsig: 'invalid',
  },
  {
    name: 'universal forgery: /Contents without digits',
    attack: (signed) => edited(signed, /\/Contents <[0-9A-F]{100,}>/, (found) => '/Contents <>'.padEnd(found.length)),
    code: 'pdf-contents-missing',
    pdfsig: 'invalid',
  },
  {
    name: 'universal forgery: /Contents null',
    attack: (signed) => edited(signed, /\/Contents <[0-9A-F]{100,}>/, (found) => '/Contents null'.padEnd(found.length)),
    code: 'pdf-contents-missing',
    pdfsig: 'invalid',
  },
  {
    name: 'universal forgery: /Contents of zeros',
    attack: (signed) =>
      edited(signed, /\/Contents <[0-9A-F]{100,}/, (found) => found.replace(/[0-9A-F](?=[0-9A-F]*$)/g, '0')),
    code: 'cms-malformed',
    pdfsig: 'invalid',
  },
  {
    name: 'incremental saving: another signature dictionary in the place of the signed one',
    attack: (signed) => updated({ 7: objectOf(signed, 7).replace('/Filter', '/Reason (Forged) /Filter') })(signed),
    code: 'pdf-byte-range-wrong',
    pdfsig: 'valid',
  },
  {
    name: 'shadow attack: a table alone, which leads to an object of an earlier revision',
    original: withUpdate(makePdf({ text: 'Forged' }), { 4: stream('Hello') }, { size: 4 }),
    attack: (signed) => {
      const at = String(signed.indexOf('4 0 obj')).padStart(10, '0');
      const start = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(signed.toString('latin1'))?.[1];
      const table = `xref\n4 1\n${at} 00000 n \ntrailer\n<< /Size 7 /Root 1 0 R /Prev ${start} >>\n`;
      return Buffer.concat([signed, Buffer.from(`${table}startxref\n${signed.length}\n%%EOF\n`)]);
    },
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid',
  },
  {
    name: 'shadow attack: an object that the signed document refers to and does not have',
    original: makePdf({
      page: '/Annots [5 0 R]',
      objects: ['<< /Type /Annot /Subtype /Stamp /Rect [0 0 9 9] /AP << /N 50 0 R >> >>'],
    }),
    attack: (signed) => withUpdate(signed, { 50: stream('Forged') }, { size: 60 }),
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid',
  },
  {
    name: 'shadow attack: another font',
    original: makePdf({ page: '/Fonts 5 0 R', objects: ['<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'] }),
    attack: (signed) => withUpdate(signed, { 5: '<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>' }, { size: 7 }),
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid',
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
    attack: (signed: Buffer) => withUpdate(signed, { 4: stream('Forged') }, { size: 8 }),
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid' as const,
  })),
  {
    name: 'shadow attack: a list of fields that is also what a page shows',
    original: makePdf({ page: '/Contents 5 0 R', objects: ['[]'], isShownByPage: true }),
    attack: (signed) => {
      const field = stream('Forged').replace('<<', '<< /FT /Sig /T (x)');
      const catalog = '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields 5 0 R >> >>';
      const list = /\/Fields \[(\d+ 0 R)\]/.exec(signed.toString('latin1'))?.[1];
      return withUpdate(signed, { 1: catalog, 5: `[${list} 9 0 R]`, 9: field }, { size: 9 });
    },
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid',
  },
  {
    name: 'certified document: an annotation that calls itself a signature',
    certify: 'no-changes',
    attack: (signed) =>
      updated({ 3: pageWith(signed, '[5 0 R', '[5 0 R 9 0 R'), 9: NOTE.replace('/Subtype', '/FT /Sig /Subtype') })(
        signed,
      ),
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid',
  },
  {
    name: 'certified document: a text field that calls itself a timestamp',
    certify: 'forms',
    attack: (signed) =>
      updated({
        1: objectOf(signed, 1).replace('8 0 R]', '8 0 R 9 0 R]'),
        9: TEXT_FIELD.replace('(Sum)', '(More)').replace('(1)', '<< /Type /DocTimeStamp >>'),
      })(signed),
    code: 'pdf-changed-after-signing',
    pdfsig: 'valid',
  },
];

export const ATTACKS: readonly Attack[] = MADE.map((attack) => ({ original: ORIGINAL, ...attack }));

type Allowed = Omit<Attack, 'code' | 'pdfsig'> & { readonly code: string | undefined };

const MADE_ALLOWED: readonly Omit<Allowed, 'original'>[] = [
  {
    name: 'a filled form, without certification',
    attack: updated({ 6: TEXT_FIELD.replace('(1)', '(9)') }),
    code: 'pdf-changed-later',
  },
  {
    name: 'a comment, without certification',
    attack: (signed) => updated({ 3: pageWith(signed, '[5 0 R', '[5 0 R 9 0 R'), 9: NOTE })(signed),
    code: 'pdf-changed-later',
  },
  {
    name: 'a filled form that the certification allows',
    certify: 'forms',
    attack: updated({ 6: TEXT_FIELD.replace('(1)', '(9)') }),
    code: undefined,
  },
  {
    name: 'a comment that the certification allows',
    certify: 'comments',
    attack: (signed) => updated({ 3: pageWith(signed, '[5 0 R', '[5 0 R 9 0 R'), 9: NOTE })(signed),
    code: 'pdf-changed-later',
  },
  {
    name: 'a visible signature field that the certification allows, and that may cover the content',
    certify: 'forms',
    attack: (signed) =>
      updated({
        1: objectOf(signed, 1).replace('8 0 R]', '8 0 R 9 0 R]'),
        9: '<< /Type /Annot /Subtype /Widget /FT /Sig /T (Cover) /Rect [0 0 300 200] /P 3 0 R >>',
      })(signed),
    code: 'pdf-changed-later',
  },
  {
    name: 'an update that writes the same again',
    attack: updated({ 2: '<</Count 1/Kids[3 0 R]/Type/Pages>>' }),
    code: undefined,
  },
];

/** Changes that signers allow, and what `verify` says of them; undefined for nothing. */
export const ALLOWED: readonly Allowed[] = MADE_ALLOWED.map((change) => ({ ...change, original: ORIGINAL }));
