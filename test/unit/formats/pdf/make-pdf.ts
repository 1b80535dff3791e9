/** Small PDF documents of every structure that signing must deal with. */

import { constants, deflateSync } from 'node:zlib';

export interface PdfShape {
  /** Default: a table. `compressed`: a stream, and all objects but streams in an object stream. */
  readonly references?: 'table' | 'stream' | 'compressed' | 'hybrid';
  /** Further entries of the catalog, the page and the trailer. */
  readonly catalog?: string;
  readonly page?: string;
  readonly trailer?: string;
  /** Further objects, from number 5 on: their values. */
  readonly objects?: readonly string[];
  /** Further objects that are the first of an object stream: their numbers, and those of the streams. Only with `stream`. */
  readonly inStreams?: readonly (readonly [number: number, stream: number])[];
  /** Reference to the root of the page tree. */
  readonly pages?: string;
  /** Whether `page` says what the page shows. */
  readonly isShownByPage?: boolean;
  /** What the page shows. */
  readonly text?: string;
  /** Default: 1.7. */
  readonly version?: string;
  /** What other programs write in object streams and cross-reference streams: data without an end, several filters, indexes that are wrong. */
  readonly isOdd?: boolean;
}

/** Objects 1 catalog, 2 pages, 3 page, 4 contents. */
export function makePdf(shape: PdfShape = {}): Buffer {
  const {
    references = 'table',
    catalog = '',
    page = '',
    pages = '2 0 R',
    inStreams = [],
    text = 'Hello',
    version = '1.7',
    isOdd = false,
  } = shape;
  const shown = `BT /F1 24 Tf 20 100 Td (${text}) Tj ET`;
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
  const values = [
    `<< /Type /Catalog /Pages ${pages} ${catalog} >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] ${shape.isShownByPage ? '' : '/Contents 4 0 R'} /Resources << /Font << /F1 ${font} >> >> ${page} >>`,
    `<< /Length ${shown.length} >>\nstream\n${shown}\nendstream`,
    ...(shape.objects ?? []),
  ];
  const file = fileOf(`%PDF-${version}\n%\xe2\xe3\xcf\xd3\n`);
  const isHidden = (index: number) => references === 'compressed' || (references === 'hybrid' && index >= 4);
  const hidden = values.flatMap((value, index) =>
    isHidden(index) && index !== 3 ? [{ number: index + 1, value }] : [],
  );
  const entries: Entry[] = [{ number: 0, type: 0, second: 0, third: 65_535 }];
  const put = (number: number, value: string | Buffer) =>
    entries.push({ number, type: 1, second: file.object(number, value), third: 0 });
  for (const [index, value] of values.entries()) {
    if (!hidden.some(({ number }) => number === index + 1)) put(index + 1, value);
  }
  let next = values.length + 1;
  if (hidden.length > 0) {
    put(next, objectStream(hidden, isOdd));
    for (const [index, { number }] of hidden.entries()) {
      entries.push({ number, type: 2, second: next, third: isOdd ? 0 : index });
    }
    next += 1;
  }
  for (const [number, second] of inStreams) entries.push({ number, type: 2, second, third: 0 });
  next = inStreams.reduce((most, [number]) => Math.max(most, number + 1), next);
  const root = `/Root 1 0 R ${shape.trailer ?? ''}`;
  if (references === 'table') return file.table(entries, next, root);
  if (references !== 'hybrid') return file.stream(entries, next, root, isOdd);
  const at = file.size();
  const inStream = entries.filter(({ type }) => type === 2);
  file.object(next, xrefStream(inStream, next + 1, ''));
  const free = { type: 0, second: 0, third: 65_535 };
  const all = entries.map((entry) => (entry.type === 2 ? { ...entry, ...free } : entry));
  return file.table(all, next + 1, `${root} /XRefStm ${at}`);
}

/** With an empty signature field, `Approval`, whose dictionary has these entries too. */
export function documentWithField(more = ''): Buffer {
  const field = `<< /Type /Annot /Subtype /Widget /FT /Sig /T (Approval) /Rect [0 0 9 9] ${more} >>`;
  return makePdf({ catalog: '/AcroForm << /Fields [5 0 R] >>', page: '/Annots [5 0 R]', objects: [field] });
}

interface Entry {
  readonly number: number;
  readonly type: number;
  readonly second: number;
  readonly third: number;
}

function fileOf(header: string) {
  const added: Buffer[] = [Buffer.from(header, 'latin1')];
  let size = header.length;
  const add = (part: string | Buffer): number => {
    const at = size;
    const bytes = typeof part === 'string' ? Buffer.from(part, 'latin1') : part;
    added.push(bytes);
    size += bytes.length;
    return at;
  };
  const end = (start: number, trailer = '') => {
    add(`${trailer}startxref\n${start}\n%%EOF\n`);
    return Buffer.concat(added);
  };
  return {
    size: () => size,
    object(number: number, value: string | Buffer): number {
      const at = add(`${number} 0 obj\n`);
      add(value);
      add('\nendobj\n');
      return at;
    },
    table(entries: readonly Entry[], size: number, trailer: string): Buffer {
      const start = add('xref\n');
      const isMany = entries.length > 1000;
      if (isMany) add(`0 ${entries.length}\n`);
      for (const { number, type, second, third } of entries.toSorted((a, b) => a.number - b.number)) {
        if (!isMany) add(`${number} 1\n`);
        const [offset, generation] = [second, third].map(String);
        add(`${offset?.padStart(10, '0')} ${generation?.padStart(5, '0')} ${type === 1 ? 'n' : 'f'} \n`);
      }
      return end(start, `trailer\n<< /Size ${size} ${trailer} >>\n`);
    },
    stream(entries: readonly Entry[], number: number, trailer: string, isOdd: boolean): Buffer {
      const start = size;
      const own = { number, type: 1, second: start, third: 0 };
      this.object(number, xrefStream([...entries, own], number + 1, trailer, isOdd));
      return end(start);
    },
  };
}

/** With the predictor that most programs use. */
export function xrefStream(entries: readonly Entry[], size: number, trailer: string, isOdd = false): Buffer {
  const sorted = entries.toSorted((a, b) => a.number - b.number);
  let before = Buffer.alloc(7);
  const rows = sorted.map(({ type, second, third }) => {
    const row = Buffer.alloc(7);
    row.writeUInt8(type, 0);
    row.writeUInt32BE(second, 1);
    row.writeUInt16BE(third, 5);
    const up = Buffer.of(2, ...row.map((byte, index) => (byte - (before[index] ?? 0)) & 0xff));
    before = row;
    return up;
  });
  const data = isOdd ? withoutEnd(Buffer.concat(rows)) : deflateSync(Buffer.concat(rows));
  const index = sorted.map(({ number }) => `${number} 1`).join(' ');
  const predictor = '/DecodeParms << /Predictor 12 /Columns 7 >>';
  const head = `<< /Type /XRef /Size ${size} /W [1 4 2] /Index [${index}] /Filter /FlateDecode ${predictor} /Length ${data.length} ${trailer} >>`;
  return Buffer.concat([Buffer.from(`${head}\nstream\n`, 'latin1'), data, Buffer.from('\nendstream')]);
}

const withoutEnd = (data: Buffer) => deflateSync(data, { finishFlush: constants.Z_SYNC_FLUSH });

export function objectStream(
  objects: readonly { readonly number: number; readonly value: string }[],
  isOdd = false,
): Buffer {
  let at = 0;
  const table = objects.map(({ number, value }) => {
    const entry = `${number} ${at}`;
    at += value.length + 1;
    return entry;
  });
  const head = `${table.join(' ')} `;
  const decoded = Buffer.from(head + objects.map(({ value }) => value).join(' '), 'latin1');
  const data = isOdd ? Buffer.from(withoutEnd(decoded).toString('hex')) : deflateSync(decoded);
  const filter = isOdd ? '[/ASCIIHexDecode /FlateDecode]' : '/FlateDecode';
  const dictionary = `<< /Type /ObjStm /N ${objects.length} /First ${head.length} /Filter ${filter} /Length ${data.length} >>`;
  return Buffer.concat([Buffer.from(`${dictionary}\nstream\n`), data, Buffer.from('\nendstream')]);
}

/** A further revision with a table: objects by their numbers. */
export function withUpdate(
  bytes: Buffer,
  objects: Readonly<Record<number, string | Buffer>>,
  { trailer = '', size = 0 }: { readonly trailer?: string; readonly size?: number } = {},
): Buffer {
  const previous = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(bytes.toString('latin1'))?.[1];
  const sizes = Array.from(bytes.toString('latin1').matchAll(/\/Size (\d+)/g), ([, count]) => Number(count) - 1);
  const highest = Math.max(size, ...sizes, ...Object.keys(objects).map(Number));
  const file = fileOf(bytes.toString('latin1'));
  const entries = Object.entries(objects).map(([number, value]) => ({
    number: Number(number),
    type: 1,
    second: file.object(Number(number), value),
    third: 0,
  }));
  return file.table(entries, highest + 1, `/Root 1 0 R /Prev ${previous} ${trailer}`);
}
