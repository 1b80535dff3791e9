/** Reads the tables of an installer file. The format has no specification, but msitools and Wine also read it. */

import type { ByteSource } from '../../bytes/byte-source.ts';
import { bytesErrors } from '../../bytes/errors.ts';
import type { CompoundStorage } from '../../compound-file/format.ts';
import { readStream } from '../../compound-file/read.ts';

export type Row = Readonly<Record<string, string>>;

interface Column {
  readonly name: string;
  readonly type: number;
}

const LARGEST_TABLE = 64 * 1024 * 1024;
/** Windows Installer allows 32 columns. */
const MOST_COLUMNS = 64;
const MOST_CELLS = 4_000_000;
/** First code unit in the name of a stream that contains a table. */
const TABLE = '\u4840';
const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._';
/** Bits in the type of a column. The data of a column of the type `BINARY` is in streams. */
const IS_TEXT = 0x800;
const IS_NULLABLE = 0x1000;
const BINARY = 0x900;
const LONG_REFERENCES = 0x8000_0000;

/** Code units from U+3800 encode two characters, and those from U+4800 one. The first character of a table is `!`. */
export function streamName(name: Uint8Array): string {
  const decoded = [...Buffer.from(name).toString('utf16le')].map((character) => {
    const packed = (character.codePointAt(0) ?? 0) - 0x3800;
    if (packed < 0 || packed > 0x1040) return character;
    if (packed === 0x1040) return '!';
    const [first, second] = [CHARACTERS[packed & 0x3f] ?? '', CHARACTERS[packed >> 6] ?? ''];
    return packed < 0x1000 ? first + second : first;
  });
  return decoded.join('');
}

export function isTable(name: Uint8Array): boolean {
  return Buffer.from(name.subarray(0, 2)).toString('utf16le') === TABLE;
}

/** Returns a function that reads the rows of a table; a missing table has no rows. */
export async function openDatabase(source: ByteSource, root: CompoundStorage) {
  const tables = new Map(root.children.flatMap((node) => (isTable(node.name) ? [[streamName(node.name), node]] : [])));

  async function stream(name: string): Promise<Buffer> {
    const node = tables.get(`!${name}`);
    if (node === undefined || node.kind === 'storage') return Buffer.alloc(0);
    if (node.size > LARGEST_TABLE) throw malformed(`its table ${name} has ${node.size} bytes`);
    return await readStream(source, node);
  }

  const { textOf, referenceLength } = stringPool(await stream('_StringPool'), await stream('_StringData'));

  async function rows(name: string, columns: readonly Column[]): Promise<readonly Row[]> {
    const lengths = columns.slice(0, MOST_COLUMNS).map(({ type }) => lengthOf(type, referenceLength));
    const bytes = await stream(name);
    const rowLength = lengths.reduce((sum, length) => sum + length, 0);
    const count = rowLength === 0 ? 0 : bytes.length / rowLength;
    if (columns.length > MOST_COLUMNS) throw malformed(`its table ${name} has ${columns.length} columns`);
    if (count * columns.length > MOST_CELLS) throw malformed(`its table ${name} has ${count} rows`);
    if (!Number.isInteger(count)) throw malformed(`its table ${name} ends within a row`);
    const starts = lengths.map((_, index) => lengths.slice(0, index).reduce((sum, length) => sum + length * count, 0));
    return Array.from({ length: count }, (_, row) => {
      const values = columns.map(({ name: column, type }, index): [string, string] => {
        const length = lengths[index] ?? 0;
        const value = bytes.readUIntLE((starts[index] ?? 0) + row * length, length);
        return [column, isText(type) ? textOf(value) : String(value)];
      });
      return Object.fromEntries(values);
    });
  }

  const columns = await rows('_Columns', COLUMNS);
  return async (name: string): Promise<readonly Row[]> => {
    const own = columns.filter(({ Table }) => Table === name);
    const sorted = own.toSorted((a, b) => Number(a.Number) - Number(b.Number));
    // Numbers are stored with their highest bit inverted.
    const types = sorted.map(({ Name = '', Type }) => ({ name: Name, type: Number(Type) ^ 0x8000 }));
    return await rows(name, types);
  };
}

const SHORT_NUMBER = 2;
const COLUMNS: readonly Column[] = [
  { name: 'Table', type: IS_TEXT },
  { name: 'Number', type: SHORT_NUMBER },
  { name: 'Name', type: IS_TEXT },
  { name: 'Type', type: SHORT_NUMBER },
];

function isText(type: number): boolean {
  return (type & IS_TEXT) !== 0 && (type & ~IS_NULLABLE) !== BINARY;
}

function lengthOf(type: number, referenceLength: number): number {
  if (isText(type)) return referenceLength;
  return (type & IS_TEXT) !== 0 || (type & 0xff) <= 2 ? 2 : 4;
}

/** `pool` contains the code page, and for each text its length and the number of its uses (16 bits each). */
function stringPool(pool: Buffer, data: Buffer) {
  const codePage = pool.length < 4 ? 0 : pool.readUInt32LE(0);
  const ends: number[] = [0];
  let end = 0;
  for (let at = 4; at + 4 <= pool.length; at += 4) {
    let length = pool.readUInt16LE(at);
    // The next entry contains the length of a long text.
    if (length === 0 && pool.readUInt16LE(at + 2) !== 0 && at + 8 <= pool.length) {
      at += 4;
      length = pool.readUInt32LE(at);
    }
    end += length;
    ends.push(end);
  }
  if (end > data.length) throw malformed('its texts are cut off');
  const decoder = decoderOf(codePage % LONG_REFERENCES);
  const known = new Map<number, string>([[0, '']]);
  return {
    referenceLength: codePage >= LONG_REFERENCES ? 3 : 2,
    textOf(index: number): string {
      const text = known.get(index) ?? decoder.decode(data.subarray(ends[index - 1], ends[index]));
      known.set(index, text);
      return text;
    },
  };
}

const ENCODINGS: Readonly<Record<number, string>> = {
  65001: 'utf-8',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
};

/** Uses windows-1252 for an unknown code page: keys of files are ASCII, and other names are only shown. */
function decoderOf(codePage: number) {
  try {
    return new TextDecoder(ENCODINGS[codePage] ?? `windows-${codePage}`);
  } catch {
    return new TextDecoder('windows-1252');
  }
}

function malformed(problem: string) {
  return bytesErrors('file-malformed', { what: "the installer's database", problem });
}
