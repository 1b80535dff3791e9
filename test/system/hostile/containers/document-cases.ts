/** Hostile PDF documents: tables that lie, trees and streams without end, signatures without number. */

import { deflateSync } from 'node:zlib';
import { makePdf } from '../../../unit/formats/pdf/make-pdf.ts';
import type { Bounds } from '../bounds.ts';
import { listed } from '../cases.ts';
import { type ContainerCase, casesOf } from './container-cases.ts';

const MEBIBYTE = 1024 * 1024;
/** For a million objects, each of which is looked at. */
const MANY_OBJECTS: Bounds = { times: 80, bytes: 400 * MEBIBYTE };
/** For one value of some MB. */
const LARGE_VALUE: Bounds = { times: 60, bytes: 400 * MEBIBYTE };

const document = casesOf('hostile.pdf');

const changed = (from: string | RegExp, to: string) => () =>
  Buffer.from(makePdf().toString('latin1').replace(from, to), 'latin1');

const stream = (entries: string, data: Buffer) =>
  `<< ${entries} /Filter /FlateDecode /Length ${data.length} >>\nstream\n${data.toString('latin1')}\nendstream`;

/** Of zeros, compressed a thousandfold. */
const BOMB = deflateSync(Buffer.alloc(64 * MEBIBYTE), { level: 9 });

/** A document with so many objects that are null. */
function manyObjects(count: number): Buffer {
  return makePdf({ objects: listed(count, () => 'null') });
}

/** One whose fields are in so many streams. */
function manyStreams(count: number): Buffer {
  const dataOf = (number: number) =>
    deflateSync(Buffer.from(`${number} 0 ${' '.repeat(8 * MEBIBYTE)}null`), { level: 1 });
  return makePdf({
    references: 'stream',
    catalog: `/AcroForm << /Fields [${listed(count, (index) => `${1000 + index} 0 R`).join(' ')}] >>`,
    objects: listed(count, (index) => stream('/Type /ObjStm /N 1 /First 7', dataOf(1000 + index))),
    inStreams: listed(count, (index) => [1000 + index, 5 + index] as const),
  });
}

function manyEntries(count: number): Buffer {
  const head = '%PDF-1.7\n';
  const trailer = `trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${head.length}\n%%EOF\n`;
  const entries = Buffer.alloc(count * 20, '0000000000 65535 f \n');
  return Buffer.concat([Buffer.from(`${head}xref\n0 ${count}\n`), entries, Buffer.from(trailer)]);
}

/** With so many objects of this text, which a list in the page or the catalog refers to. */
function withListed(count: number, text: string, list: (references: string) => Parameters<typeof makePdf>[0]): Buffer {
  const references = listed(count, (index) => `${index + 5} 0 R`).join(' ');
  return makePdf({ ...list(references), objects: listed(count, () => text) });
}

const fields = (references: string) => ({ catalog: `/AcroForm << /Fields [${references}] >>` });

function pages(depth: number): Buffer {
  const tree = (index: number) => `<< /Type /Pages /Count 1 /Kids [${index + 6} 0 R] >>`;
  return makePdf({ objects: listed(depth, tree), pages: '5 0 R' });
}

/** A tree of pages whose nodes all have the same 64 kids, and no page. */
function widePages(): Buffer {
  const kids = '6 0 R '.repeat(64);
  return makePdf({
    objects: [`<< /Type /Pages /Kids [${kids}] >>`, `<< /Type /Pages /Kids [${kids}] >>`],
    pages: '5 0 R',
  });
}

const SIGNATURE = '<< /FT /Sig /T (x) /V << /Type /Sig /ByteRange [0 1 2 3] >> >>';
const FIELD = '<< /FT /Tx /T (x) /Subtype /Widget /Rect [0 0 9 9] >>';

export const DOCUMENT_CASES: readonly ContainerCase[] = [
  document('a table of 8 million entries', 'pdf-too-large', () => manyEntries(8_000_000)),
  document(
    'objects that are in its table twice',
    'pdf-cross-reference-broken',
    changed('4 1\n', '3 2\n0000000015 00000 n \n'),
  ),
  document('2,000 tables, one before the other', 'pdf-too-large', () => manyRevisions(2000)),
  document('300,000 objects', 'planned', () => manyObjects(300_000), { bounds: MANY_OBJECTS }),
  document('arrays of 100,000 levels', 'pdf-malformed', () => makePdf({ catalog: `/X ${'['.repeat(100_000)}` })),
  document(
    'a string of 20 MB of escapes',
    'planned',
    () => makePdf({ catalog: `/X (${'\\('.repeat(10 * MEBIBYTE)})` }),
    { bounds: LARGE_VALUE },
  ),
  document('a string without end', 'pdf-malformed', () => makePdf({ objects: [`(${'('.repeat(MEBIBYTE)}`] }), {
    onlyToSign: true,
  }),
  document('an array of a million values', 'pdf-too-large', () =>
    makePdf({ catalog: `/X [${'0 '.repeat(1_000_000)}]` }),
  ),
  document('a cross-reference stream that grows a thousandfold', 'pdf-too-large', () => {
    const bomb = stream('/Type /XRef /Size 9 /W [1 4 2] /Root 1 0 R', BOMB);
    const body = `%PDF-1.7\n1 0 obj\n${bomb}\nendobj\n`;
    return Buffer.from(`${body}startxref\n9\n%%EOF\n`, 'latin1');
  }),
  document('80 object streams of 8 MiB each', 'pdf-too-large', () => manyStreams(80), { bounds: LARGE_VALUE }),
  document('a page tree that runs in a circle', 'pdf-malformed', changed('/Kids [3 0 R]', '/Kids [2 0 R]'), {
    onlyToSign: true,
  }),
  document('a page tree of 100,000 levels', 'pdf-malformed', () => pages(100_000), {
    onlyToSign: true,
    bounds: MANY_OBJECTS,
  }),
  document('a page tree of 64 branches at each level', 'pdf-malformed', widePages, { onlyToSign: true }),
  document('a form whose fields are in a circle', 'planned', () =>
    makePdf({ catalog: '/AcroForm << /Fields [5 0 R] >>', objects: ['<< /T (x) /Kids [5 0 R] >>'] }),
  ),
  document('a form of 60,000 fields', 'pdf-too-large', () => withListed(60_000, FIELD, fields), {
    bounds: LARGE_VALUE,
  }),
  document(
    '200,000 annotations on a page',
    'planned',
    () => withListed(200_000, FIELD, (references) => ({ page: `/Annots [${references}]` })),
    { bounds: MANY_OBJECTS },
  ),
  document('300 signatures', 'pdf-too-large', () => withListed(300, SIGNATURE, fields)),
];

function manyRevisions(count: number): Buffer {
  let file = makePdf().toString('latin1');
  let start = file.lastIndexOf('xref\n0');
  for (let index = 0; index < count; index += 1) {
    const { length } = file;
    file += `xref\n0 0\ntrailer\n<< /Size 5 /Root 1 0 R /Prev ${start} >>\nstartxref\n${length}\n%%EOF\n`;
    start = length;
  }
  return Buffer.from(file, 'latin1');
}
