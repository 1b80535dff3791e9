import { deflateRawSync } from 'node:zlib';

export interface CabBlock {
  readonly data: Uint8Array;
  readonly size: number;
}

export interface CabShape {
  readonly folders: readonly { readonly method?: number; readonly blocks: readonly CabBlock[] }[];
  readonly files: readonly {
    readonly name: string;
    readonly size: number;
    readonly offset?: number;
    readonly folder?: number;
    readonly attributes?: number;
  }[];
  readonly previous?: string;
  readonly next?: string;
  readonly number?: number;
  /** Reserved areas: the bytes in the header, and the sizes in each folder and in each block. */
  readonly header?: Buffer;
  readonly perFolder?: number;
  readonly perData?: number;
}

/** A cabinet with all files in one folder, stored or compressed with MSZIP. */
export function cabOf(files: Readonly<Record<string, Uint8Array>>, isCompressed = false): Buffer {
  let offset = 0;
  const listed = Object.entries(files).map(([name, { length: size }]) => {
    offset += size;
    return { name, size, offset: offset - size };
  });
  const bytes = Buffer.concat(Object.values(files));
  return makeCab({ folders: [{ method: Number(isCompressed), blocks: blocksOf(bytes, isCompressed) }], files: listed });
}

/** Two cabinets that contain one file together, which begins in the first one. */
export function cabSet(name: string, bytes: Buffer, names: readonly [string, string]): readonly [Buffer, Buffer] {
  const [block, ...others] = blocksOf(bytes, false);
  const { data, size } = block ?? { data: bytes, size: 0 };
  const file = { name, size: bytes.length };
  const first = makeCab({
    folders: [{ blocks: [{ data: data.subarray(0, 3), size: 0 }] }],
    files: [{ ...file, folder: 0xfffe }],
    next: names[1],
  });
  const second = makeCab({
    folders: [{ blocks: [{ data: data.subarray(3), size }, ...others] }],
    files: [{ ...file, folder: 0xfffd }],
    previous: names[0],
    number: 1,
  });
  return [first, second];
}

export function blocksOf(bytes: Buffer, isCompressed: boolean): readonly CabBlock[] {
  const starts = Array.from({ length: Math.ceil(bytes.length / 32768) }, (_, index) => index * 32768);
  return starts.map((start) => {
    const piece = bytes.subarray(start, start + 32768);
    const dictionary = bytes.subarray(Math.max(0, start - 32768), start);
    const data = isCompressed ? Buffer.concat([Buffer.from('CK'), deflateRawSync(piece, { dictionary })]) : piece;
    return { data, size: piece.length };
  });
}

export function makeCab(shape: CabShape): Buffer {
  const { folders, files, previous, next, number = 0, header: reserve, perFolder = 0, perData = 0 } = shape;
  const names = [previous, next].flatMap((name) => (name === undefined ? [] : [`${name}\0disk\0`])).join('');
  const hasReserve = reserve !== undefined || perFolder > 0 || perData > 0;
  const { length = 0 } = reserve ?? {};
  const sizes = hasReserve ? [Buffer.of(length & 0xff, length >> 8, perFolder, perData)] : [];
  const afterHeader = Buffer.concat([...sizes, reserve ?? Buffer.of(), Buffer.from(names)]);
  const records = files.map(({ name, size, offset = 0, folder = 0, attributes = 0x20 }) => {
    const record = Buffer.concat([Buffer.alloc(16), Buffer.from(`${name}\0`)]);
    record.writeUInt32LE(size, 0);
    record.writeUInt32LE(offset, 4);
    record.writeUInt16LE(folder, 8);
    record.writeUInt16LE(attributes, 14);
    return record;
  });
  const filesOffset = 36 + afterHeader.length + folders.length * (8 + perFolder);
  let end = filesOffset + Buffer.concat(records).length;
  const parts = folders.map(({ method = 0, blocks }) => {
    const data = Buffer.concat(blocks.flatMap((block) => blockRecord(block, perData)));
    const folder = Buffer.alloc(8 + perFolder, 0xf0);
    folder.writeUInt32LE(end, 0);
    folder.writeUInt16LE(blocks.length, 4);
    folder.writeUInt16LE(method, 6);
    end += data.length;
    return { folder, data };
  });
  const header = Buffer.alloc(36);
  header.write('MSCF');
  header.writeUInt32LE(end, 8);
  header.writeUInt32LE(filesOffset, 16);
  header.writeUInt16LE(0x0103, 24);
  for (const [index, value] of [folders.length, files.length].entries()) header.writeUInt16LE(value, 26 + index * 2);
  header.writeUInt16LE((hasReserve ? 4 : 0) | (previous === undefined ? 0 : 1) | (next === undefined ? 0 : 2), 30);
  header.writeUInt16LE(number, 34);
  const tables = [...parts.map(({ folder }) => folder), ...records];
  return Buffer.concat([header, afterHeader, ...tables, ...parts.map(({ data }) => data)]);
}

/** The checksum is the XOR of all words. cabextract rejects a wrong one. */
function blockRecord({ data, size }: CabBlock, reserved: number): readonly Uint8Array[] {
  const sizes = Buffer.alloc(4);
  sizes.writeUInt16LE(data.length, 0);
  sizes.writeUInt16LE(size, 2);
  const padded = Buffer.alloc(Math.ceil(data.length / 4) * 4);
  padded.set(data);
  padded.subarray(data.length - (data.length % 4), data.length).reverse();
  const sum = Buffer.alloc(4);
  let value = sizes.readInt32LE();
  for (let at = 0; at < padded.length; at += 4) value ^= padded.readInt32LE(at);
  sum.writeInt32LE(value);
  return [sum, sizes, Buffer.alloc(reserved), data];
}
