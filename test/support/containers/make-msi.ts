import type { Version } from '../../../src/compound-file/format.ts';
import { newStream } from '../../../src/compound-file/write.ts';
import { makeCompoundFile } from '../../unit/formats/msi/samples.ts';

const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._';
const TEXT = 0xd00 | 255;
const NUMBER = 0x500 | 2;

type Rows = readonly Readonly<Record<string, string | number>>[];

interface InstallerShape {
  readonly version?: Version;
  /** Rows with equal columns. */
  readonly tables: Readonly<Record<string, Rows>>;
  readonly streams?: Readonly<Record<string, Uint8Array>>;
  /** In place of the table or the string pool of this name. */
  readonly damaged?: Readonly<Record<string, Uint8Array>>;
}

/** An installer with one embedded cabinet, whose files have the names F0, F1, … in it. */
export function msiOf(names: readonly string[], cabinet: Uint8Array, streams: InstallerShape['streams'] = {}): Buffer {
  const File = names.map((FileName, index) => ({ File: `F${index}`, FileName, Sequence: index + 1 }));
  return makeMsi({
    tables: { File, Media: [{ DiskId: 1, Cabinet: '#c.cab' }] },
    streams: { ...streams, 'c.cab': cabinet },
  });
}

/** Has one long text in its string pool. */
export function makeMsi({ version = 3, tables, streams = {}, damaged = {} }: InstallerShape): Buffer {
  const texts = ['x'.repeat(70_000)];
  const textNumber = (text: string): number => {
    if (text === '') return 0;
    if (!texts.includes(text)) texts.push(text);
    return texts.indexOf(text) + 1;
  };
  const cell = (value: string | number): number => (typeof value === 'string' ? textNumber(value) : value + 0x8000);
  const table = (rows: Rows): Buffer =>
    Buffer.from(
      Uint16Array.from(Object.keys(rows[0] ?? {}).flatMap((name) => rows.map((row) => cell(row[name] ?? '')))).buffer,
    );
  const columns = Object.entries(tables).flatMap(([Table, [row = {}]]) =>
    Object.entries(row).map(([Name, value], index) => {
      return { Table, Number: index + 1, Name, Type: typeof value === 'string' ? TEXT : NUMBER };
    }),
  );
  const encoded = Object.entries({ ...tables, _Columns: columns }).map(([name, rows]) => [name, table(rows)] as const);
  const lengths = texts.flatMap((text) =>
    text.length > 0xffff ? [0, 1, text.length & 0xffff, text.length >> 16] : [text.length, 1],
  );
  const all = {
    ...Object.fromEntries(encoded),
    _StringPool: Buffer.from(Uint16Array.from([1252, 0, ...lengths]).buffer),
    _StringData: Buffer.from(texts.join(''), 'latin1'),
    ...damaged,
  };
  const named = [
    ...Object.entries(all).map(([name, bytes]) => newStream(`\u4840${packed(name)}`, bytes)),
    ...Object.entries(streams).map(([name, bytes]) => newStream(packed(name), bytes)),
    newStream('\x05SummaryInformation', Buffer.from('summary')),
  ];
  return makeCompoundFile({ version, children: named });
}

function packed(name: string): string {
  return name.replace(/[\w.]{1,2}/g, (pair) => {
    const [first, second] = [...pair].map((character) => CHARACTERS.indexOf(character));
    return String.fromCharCode(second === undefined ? 0x4800 + (first ?? 0) : 0x3800 + (first ?? 0) + second * 64);
  });
}
