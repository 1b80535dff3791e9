/** Documents for the contract of formats: of every structure, and broken ones. */

import { flipped } from '../../../support/flipped.ts';
import { type Fixture, malformed } from '../support/fixtures.ts';
import { makePdf, type PdfShape, withUpdate } from './make-pdf.ts';

const good = (name: string, what: string, shape: PdfShape): Fixture => ({ name, what, bytes: makePdf(shape) });

const NOTE = '<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (a note) >>';
const EMPTY_FIELD = '<< /Type /Annot /Subtype /Widget /FT /Sig /T (Approval) /Rect [0 0 9 9] /P 3 0 R >>';

/** With another end of each entry in its table, and more of them. */
function withEntries(document: Buffer, end: string, more: string): Buffer {
  const text = document.toString('latin1').replace(/( \d{5} [nf]) \n/g, `$1${end}`);
  return Buffer.from(text.replace('trailer\n<< /Size 5', `${more}trailer\n<< /Size 6`), 'latin1');
}

export const GOOD_DOCUMENTS: readonly Fixture[] = [
  good('table.pdf', 'a table', {}),
  good('stream.pdf', 'a cross-reference stream', { references: 'stream' }),
  good('compressed.pdf', 'objects in an object stream', {
    references: 'compressed',
    objects: [NOTE],
    page: '/Annots [5 0 R]',
  }),
  good('hybrid.pdf', 'a hybrid file, with an annotation in its stream', {
    references: 'hybrid',
    objects: [NOTE, '[5 0 R]'],
    page: '/Annots 6 0 R',
  }),
  good('form.pdf', 'a form with objects of its own', {
    catalog: '/AcroForm 5 0 R',
    page: '/Annots 7 0 R',
    objects: ['<< /Fields 6 0 R /SigFlags 1 >>', '[8 0 R]', '[8 0 R]', EMPTY_FIELD],
  }),
  good('odd-streams.pdf', 'streams without an end, and wrong indexes in an object stream', {
    references: 'compressed',
    isOdd: true,
    objects: [NOTE],
    page: '/Annots [5 0 R]',
  }),
  {
    name: 'short-entries.pdf',
    what: 'table entries of 19 bytes, one in use at offset 0, and a key twice with the same value',
    bytes: withEntries(makePdf({ catalog: '/Pages 2 0 R' }), '\n', '5 1\n0000000000 00000 n\n'),
  },
  { name: 'long-entries.pdf', what: 'table entries of 21 bytes', bytes: withEntries(makePdf(), ' \r\n', '') },
  {
    name: 'updated.pdf',
    what: 'two revisions, and no line end after the last',
    bytes: withUpdate(makePdf(), { 5: NOTE }, { size: 4 }).subarray(0, -1),
  },
  { name: 'sparse.pdf', what: 'few objects, and a high number', bytes: withUpdate(makePdf(), { 600000: NOTE }) },
  {
    name: 'garbage.pdf',
    what: 'bytes behind its last %%EOF',
    bytes: Buffer.concat([makePdf(), Buffer.from('<!-- sent by a web server -->\r\n\0\0')]),
  },
];

const plain = makePdf();
const edited = (from: string | RegExp, to: string) => Buffer.from(plain.toString('latin1').replace(from, to), 'latin1');

const broken = (name: string, what: string, bytes: Buffer) =>
  malformed('pdf-cross-reference-broken', name, what, bytes);
const LATE = Buffer.concat([Buffer.from('junk\n'), plain]);
const WITHOUT_CATALOG = edited(/<< \/Type \/Catalog[^>]*>>/, '[]');

export const MALFORMED_DOCUMENTS: readonly Fixture[] = [
  malformed('pdf-header-late', 'junk.pdf', 'bytes in front of the header', LATE),
  malformed('pdf-malformed', 'no-catalog.pdf', 'a catalog that is no dictionary', WITHOUT_CATALOG),
  malformed('pdf-malformed', 'twice.pdf', 'a key that is there twice', edited('/Type /Catalog', '/Pages 9 0 R  ')),
  broken('cut.pdf', 'a document that was cut', plain.subarray(0, -30)),
  broken('moved.pdf', 'a wrong offset at its end', edited(/startxref\n\d+/, 'startxref\n99')),
  broken('prev.pdf', 'sections in a circle', makePdf({ trailer: `/Prev ${plain.indexOf('xref\n0')}` })),
  malformed('pdf-encrypted', 'encrypted.pdf', 'an encrypted document', makePdf({ trailer: '/Encrypt << /V 4 >>' })),
  malformed('pdf-too-large', 'many.pdf', 'an object number that is absurd', edited('xref\n0 1', 'xref\n9000000000 1')),
];

/** Bytes of the page's contents, and of the header's comment. */
export async function changedDocuments(result: Buffer): Promise<readonly Buffer[]> {
  return [result.indexOf('(Hello)') + 1, 10].map((offset) => flipped(result, offset));
}
