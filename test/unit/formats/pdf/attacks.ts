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
/** The page of the signed document, with other entries. */
const pageWith = (signed: Buffer, from: string, to: string): string => {
  const text = signed.toString('latin1');
  const start = text.lastIndexOf('3 0 obj\n') + 8;
  return text.slice(start, text.indexOf('\nendobj', start)).replace(from, to);
};

const MADE: readonly Omit<Attack, 'original'>[] = [
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
];

export const ATTACKS: readonly Attack[] = MADE.map((attack) => ({ ...attack, original: ORIGINAL }));

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
    code: undefined,
  },
  {
    name: 'an update that writes the same again',
    attack: updated({ 2: '<</Count 1/Kids[3 0 R]/Type/Pages>>' }),
    code: undefined,
  },
];

/** Changes that signers allow, and what `verify` says of them; undefined for nothing. */
export const ALLOWED: readonly Allowed[] = MADE_ALLOWED.map((change) => ({ ...change, original: ORIGINAL }));
