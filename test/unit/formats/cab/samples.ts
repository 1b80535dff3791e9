/** Cabinets with a header of every shape, and broken ones. */

import type { Fixture } from '../support/fixtures.ts';

interface CabinetShape {
  /** Reserved area of the header; undefined for no sizes at all. */
  readonly header?: Buffer;
  readonly perFolder?: number;
  readonly perData?: number;
  /** Names of the previous and the next cabinet of a set, each with the label of its disk. */
  readonly previous?: string;
  readonly next?: string;
  readonly index?: number;
}

const CONTENT = Buffer.from('Hello from a cabinet.\r\n');

/** One stored file in one folder. */
export function makeCabinet(shape: CabinetShape = {}): Buffer {
  const { header: reserve = Buffer.of(), perFolder = 0, perData = 0, previous, next, index = 0 } = shape;
  const hasReserve = shape.header !== undefined || perFolder > 0 || perData > 0;
  const sizes = Buffer.of(reserve.length & 0xff, reserve.length >> 8, perFolder, perData);
  const names = [previous, next].flatMap((name) => (name === undefined ? [] : [`${name}\0disk\0`])).join('');
  const start = Buffer.concat([Buffer.alloc(36), ...(hasReserve ? [sizes, reserve] : []), Buffer.from(names)]);
  const filesOffset = start.length + 8 + perFolder;
  const file = Buffer.concat([Buffer.alloc(16), Buffer.from('hello.txt\0')]);
  file.writeUInt32LE(CONTENT.length, 0);
  file.writeUInt16LE(0x5cae, 10);
  file.writeUInt16LE(0x20, 14);
  const dataOffset = filesOffset + file.length;
  const folder = Buffer.alloc(8 + perFolder, 0xf0);
  folder.writeUInt32LE(dataOffset, 0);
  folder.writeUInt32LE(1, 4);
  const data = Buffer.concat([Buffer.alloc(8 + perData), CONTENT]);
  data.writeUInt16LE(CONTENT.length, 4);
  data.writeUInt16LE(CONTENT.length, 6);
  start.write('MSCF', 0, 'latin1');
  start.writeUInt32LE(dataOffset + data.length, 8);
  start.writeUInt32LE(filesOffset, 16);
  start.writeUInt16LE(0x0103, 24);
  start.writeUInt32LE(0x0001_0001, 26);
  start.writeUInt16LE((hasReserve ? 4 : 0) | (previous === undefined ? 0 : 1) | (next === undefined ? 0 : 2), 30);
  start.writeUInt16LE(0x3a2, 32);
  start.writeUInt16LE(index, 34);
  return Buffer.concat([start, folder, file, data]);
}

const good = (name: string, what: string, shape: CabinetShape): Fixture => ({ name, what, bytes: makeCabinet(shape) });
const malformed = (code: string, name: string, what: string, bytes: Buffer): Fixture => ({ name, what, bytes, code });

export const GOOD_CABINETS: readonly Fixture[] = [
  good('plain.cab', 'no reserved area', {}),
  good('sizes.cab', 'reserved areas of folders and data alone', { perFolder: 5, perData: 7 }),
  good('small.cab', 'a reserved area that is too small', { header: Buffer.alloc(8) }),
  good('exact.cab', 'a reserved area of the right size', { header: Buffer.alloc(20), perData: 1 }),
  good('large.cab', 'a reserved area of 6144 bytes', { header: Buffer.alloc(6144) }),
  good('block1.cab', 'a first block of another program', {
    header: Buffer.from(`0300${'1000'}aabbcc${'00'.repeat(16)}`, 'hex'),
  }),
  good('set.cab', 'the second cabinet of a set', { previous: 'one.cab', next: 'three.cab', index: 1 }),
];

const plain = makeCabinet();

function changed(offset: number, value: number): Buffer {
  const bytes = Buffer.from(plain);
  bytes.writeUInt32LE(value, offset);
  return bytes;
}

const withReserve = (hex: string) => makeCabinet({ header: Buffer.from(hex, 'hex') });
const ELSEWHERE = withReserve(`00001000${'10000000'}${'08000000'}${'00'.repeat(8)}`);
const WHOLE = withReserve(`00001400${'3082'}${'01'.repeat(18)}`);

export const MALFORMED_CABINETS: readonly Fixture[] = [
  malformed('file-truncated', 'cut.cab', 'a cabinet that was cut', plain.subarray(0, plain.length - 1)),
  malformed('file-truncated', 'head.cab', 'a part of a header', plain.subarray(0, 20)),
  malformed('trailing-bytes', 'tail.cab', 'bytes behind it', Buffer.concat([plain, Buffer.of(0)])),
  malformed('file-malformed', 'files.cab', 'a file table in the header', changed(16, 8)),
  malformed('file-malformed', 'folder.cab', 'a folder whose data is after the end', changed(36, 1 << 20)),
  malformed('cabinet-reserve-in-use', 'used.cab', 'a reserved area in use', withReserve('07'.repeat(20))),
  malformed('file-malformed', 'elsewhere.cab', 'a reference to a signature that is not at the end', ELSEWHERE),
  malformed('file-malformed', 'whole-in-reserve.cab', 'a signature in the reserved area, as in old files', WHOLE),
  malformed('file-malformed', 'names.cab', 'a name that does not end', makeCabinet({ next: 'x'.repeat(2000) })),
];

/** The same cabinet with a byte changed: in the header, in a folder, and the last one of the content. */
export async function changedCabinets(result: Buffer): Promise<readonly Buffer[]> {
  const end = result.readUInt32LE(8);
  return [32, end - 1].map((offset) => {
    const bytes = Buffer.from(result);
    bytes[offset] = (bytes[offset] ?? 0) ^ 0x20;
    return bytes;
  });
}
