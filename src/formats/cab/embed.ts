import type { ByteSource } from '../../bytes/byte-source.ts';
import type { Patch } from '../../bytes/pieces.ts';
import { HAS_RESERVE, HEADER_LENGTH } from '../../cabinet/directory.ts';
import { malformed } from '../../cabinet/errors.ts';
import type { Content } from '../../crypto/measure-content.ts';
import {
  type CabinetLayout,
  MAXIMUM_SIZE,
  REFERENCE_LENGTH,
  RESERVE_SIZES_LENGTH,
  reserveEnd,
  tooLarge,
} from './layout.ts';

export interface Head {
  readonly header: Buffer;
  readonly sizes: Buffer;
  readonly block1: Uint8Array;
  /** Length of the signature reference and of the zeros up to the end of the reserved area. */
  readonly block2Length: number;
  readonly folders: Buffer;
  readonly shift: number;
}

/** The digest covers the final header except reserved1, the sizes, the length of block2, and block2 itself. */
export async function contentOf(
  source: ByteSource,
  layout: CabinetLayout,
  what: 'new' | 'present' | 'without-metadata',
): Promise<Content> {
  const reserve = layout.reserve?.length ?? 0;
  const head = await readHead(source, layout, what === 'new' ? reserveForSignature(layout) : reserve);
  const { names, folderCount, folderLength, cabinetSize } = layout;
  return [
    head.header.subarray(0, 4),
    head.header.subarray(8),
    head.sizes.subarray(RESERVE_SIZES_LENGTH, RESERVE_SIZES_LENGTH + 2),
    head.block1,
    names,
    head.folders,
    { start: names.end + folderCount * folderLength, end: cabinetSize },
  ];
}

export async function headForSignature(source: ByteSource, layout: CabinetLayout): Promise<Head> {
  return readHead(source, layout, reserveForSignature(layout));
}

/** Pads the signature with zeros to a multiple of 8 bytes. Like signtool, writes the padded length in the reference. */
export function embedCms(layout: CabinetLayout, head: Head, cms: Uint8Array): Patch {
  const padded = Buffer.alloc(Math.ceil(cms.length / 8) * 8);
  padded.set(cms);
  const start = layout.cabinetSize + head.shift;
  const size = start + padded.length;
  if (size > MAXIMUM_SIZE) throw tooLarge(size);
  const block2 = Buffer.alloc(head.block2Length);
  block2.writeUInt32LE(start, 0);
  block2.writeUInt32LE(padded.length, 4);
  return editsFor(layout, head, block2, padded);
}

/** Also removes the reserved area if its size shows that it was created for the signature. */
export async function removeCms(source: ByteSource, layout: CabinetLayout): Promise<Patch> {
  const { reserve } = layout;
  const isOurs = reserve?.length === 4 + REFERENCE_LENGTH && reserve.block1.length === 0;
  const head = await readHead(source, layout, isOurs ? 0 : (reserve?.length ?? 0));
  if (reserve?.block1.length === 0 && head.sizes.length > RESERVE_SIZES_LENGTH)
    head.sizes.fill(0, RESERVE_SIZES_LENGTH);
  return editsFor(layout, head, Buffer.alloc(head.block2Length), Buffer.alloc(0));
}

function reserveForSignature({ reserve }: CabinetLayout): number {
  return Math.max(reserve?.length ?? 0, 4 + (reserve?.block1.length ?? 0) + REFERENCE_LENGTH);
}

async function readHead(source: ByteSource, layout: CabinetLayout, length: number): Promise<Head> {
  const { reserve, flags, names, folderCount, folderLength } = layout;
  const { folderLength: perFolder = 0, dataLength: perData = 0, block1 = new Uint8Array() } = reserve ?? {};
  const isReserved = length > 0 || perFolder > 0 || perData > 0;
  const sizes = Buffer.alloc(isReserved ? RESERVE_SIZES_LENGTH + (length > 0 ? 4 : 0) : 0);
  const block2Length = length === 0 ? 0 : length - 4 - block1.length;
  if (isReserved) {
    sizes.writeUInt16LE(length, 0);
    sizes.writeUInt8(perFolder, 2);
    sizes.writeUInt8(perData, 3);
  }
  if (length > 0) {
    sizes.writeUInt16LE(block1.length, 4);
    // signtool writes the length 16, even if the area is longer, and jsign accepts no other length.
    sizes.writeUInt16LE(Math.min(block2Length, REFERENCE_LENGTH), 6);
  }
  const shift = HEADER_LENGTH + (isReserved ? RESERVE_SIZES_LENGTH + length : 0) - reserveEnd(layout);
  const header = Buffer.from(await source.read(0, HEADER_LENGTH));
  header.writeUInt32LE(layout.cabinetSize + shift, 8);
  header.writeUInt32LE(layout.filesOffset + shift, 16);
  header.writeUInt16LE(isReserved ? flags | HAS_RESERVE : flags & ~HAS_RESERVE, 30);
  const folders = Buffer.from(await source.read(names.end, folderCount * folderLength));
  for (let at = 0; at < folders.length; at += folderLength) {
    const dataOffset = folders.readUInt32LE(at) + shift;
    if (dataOffset > layout.cabinetSize + shift) throw malformed('the data of a folder is after its end');
    folders.writeUInt32LE(dataOffset, at);
  }
  return { header, sizes, block1, block2Length, folders, shift };
}

function editsFor(layout: CabinetLayout, head: Head, block2: Buffer, tail: Uint8Array): Patch {
  const { names, folderCount, folderLength, cabinetSize, fileSize } = layout;
  return [
    { offset: 0, remove: reserveEnd(layout), insert: [head.header, head.sizes, head.block1, block2] },
    { offset: names.end, remove: folderCount * folderLength, insert: [head.folders] },
    { offset: cabinetSize, remove: fileSize - cabinetSize, insert: [tail] },
  ];
}
