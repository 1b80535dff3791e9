/** Records of an entry that is added to an archive (APPNOTE 4.3.7, 4.3.12): always the same bytes for the same contents. */

import { crc32, deflateRawSync } from 'node:zlib';
import {
  CENTRAL_RECORD,
  CENTRAL_RECORD_LENGTH,
  DEFLATED,
  LOCAL_HEADER,
  LOCAL_HEADER_LENGTH,
  STORED,
} from './fields.ts';

export interface NewEntry {
  /** Each character a byte of it, as latin1 has them. */
  readonly name: string;
  /** General purpose bit flag; 0 when left out. */
  readonly flags?: number;
  readonly method: number;
  readonly crc32: number;
  /** Of the contents, in bytes. */
  readonly size: number;
  readonly data: Uint8Array;
  /** Extra fields, whole. */
  readonly extra: Uint8Array;
}

/** What the records of an entry say of it; of its data they need the length alone. */
export type EntryHeader = Omit<NewEntry, 'data'> & { readonly data: { readonly length: number } };

/** What can be read by any program: 2.0 has deflate. Made by: the same, on no particular system, so without permissions. */
const VERSION = 20;
/** 1980-02-01 00:00:00: the earliest that is after the epoch of MS-DOS in every time zone. */
const DOS_DATE = (0 << 9) | (2 << 5) | 1;

export function deflatedEntry(name: string, contents: Uint8Array): NewEntry {
  const data = deflateRawSync(contents, { chunkSize: 256 * 1024 });
  return { ...describe(name, contents), method: DEFLATED, data };
}

/** Of a stored deflate block, in bytes: its length has 16 bits. */
const LONGEST_BLOCK = 0xffff;
export const PLAIN_BLOCK_HEADER_LENGTH = 5;

/**
 * Deflated by name, into blocks that hold the contents as they are (RFC 1951, 3.2.4): another zlib makes the same bytes.
 * `longestBlock`: of the contents, in bytes.
 */
export function plainlyDeflatedEntry(name: string, contents: Uint8Array, longestBlock = LONGEST_BLOCK): NewEntry {
  const pieces: Uint8Array[] = [];
  let start = 0;
  do {
    const block = contents.subarray(start, start + longestBlock);
    start += block.length;
    const header = Buffer.alloc(PLAIN_BLOCK_HEADER_LENGTH);
    header.writeUInt8(start === contents.length ? 1 : 0, 0);
    header.writeUInt16LE(block.length, 1);
    header.writeUInt16LE(block.length ^ 0xffff, 3);
    pieces.push(header, block);
  } while (start < contents.length);
  return { ...describe(name, contents), method: DEFLATED, data: Buffer.concat(pieces) };
}

/** Its length does not depend on its contents. */
export function storedEntry(name: string, contents: Uint8Array): NewEntry {
  return { ...describe(name, contents), method: STORED, data: contents };
}

function describe(name: string, contents: Uint8Array) {
  return { name, crc32: crc32(contents), size: contents.length, extra: new Uint8Array() };
}

/** Of its local header and data, in bytes. */
export function localLength({ name, extra, data }: EntryHeader): number {
  return LOCAL_HEADER_LENGTH + name.length + extra.length + data.length;
}

/** What comes before its data. */
export function localHeader(entry: EntryHeader): Buffer {
  const header = Buffer.alloc(LOCAL_HEADER_LENGTH);
  header.writeUInt32LE(LOCAL_HEADER, 0);
  writeFields(header, 4, entry);
  return Buffer.concat([header, Buffer.from(entry.name, 'latin1'), entry.extra]);
}

/** The directory's record, with zero for the offset of the local header. */
export function centralRecord(entry: EntryHeader): Buffer {
  const record = Buffer.alloc(CENTRAL_RECORD_LENGTH);
  record.writeUInt32LE(CENTRAL_RECORD, 0);
  record.writeUInt16LE(VERSION, 4);
  writeFields(record, 6, entry);
  return Buffer.concat([record, Buffer.from(entry.name, 'latin1'), entry.extra]);
}

/** What both records have in the same order, from "version needed to extract" on. */
function writeFields(record: Buffer, start: number, entry: EntryHeader): void {
  record.writeUInt16LE(VERSION, start);
  record.writeUInt16LE(entry.flags ?? 0, start + 2);
  record.writeUInt16LE(entry.method, start + 4);
  record.writeUInt16LE(DOS_DATE, start + 8);
  record.writeUInt32LE(entry.crc32, start + 10);
  record.writeUInt32LE(entry.data.length, start + 14);
  record.writeUInt32LE(entry.size, start + 18);
  record.writeUInt16LE(entry.name.length, start + 22);
  record.writeUInt16LE(entry.extra.length, start + 24);
}
