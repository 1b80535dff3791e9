/** Records of a new entry (APPNOTE 4.3.7, 4.3.12). The same contents always give the same bytes. */

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
  /** One character for each byte (latin1). */
  readonly name: string;
  /** General purpose bit flag. Default: 0. */
  readonly flags?: number;
  readonly method: number;
  readonly crc32: number;
  readonly size: number;
  readonly data: Uint8Array;
  readonly extra: Uint8Array;
}

/** Fields of the entry's records, which depend only on the length of its data. */
export type EntryHeader = Omit<NewEntry, 'data'> & { readonly data: { readonly length: number } };

/** Version 2.0, needed for deflate. "Made by" is the same on no particular system, so there are no permissions. */
const VERSION = 20;
/** 1980-02-01 00:00:00, which is after the epoch of MS-DOS in every time zone. */
const DOS_DATE = (0 << 9) | (2 << 5) | 1;

export function deflatedEntry(name: string, contents: Uint8Array): NewEntry {
  const data = deflateRawSync(contents, { chunkSize: 256 * 1024 });
  return { ...describe(name, contents), method: DEFLATED, data };
}

/** Bytes in a stored deflate block, whose length field has 16 bits. */
const LONGEST_BLOCK = 0xffff;
export const PLAIN_BLOCK_HEADER_LENGTH = 5;

/**
 * An entry with method deflate whose blocks contain the contents uncompressed (RFC 1951, 3.2.4), so that the bytes do
 * not depend on the zlib version. `longestBlock` is in bytes of contents.
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

/** The length of the entry does not depend on the contents. */
export function storedEntry(name: string, contents: Uint8Array): NewEntry {
  return { ...describe(name, contents), method: STORED, data: contents };
}

function describe(name: string, contents: Uint8Array) {
  return { name, crc32: crc32(contents), size: contents.length, extra: new Uint8Array() };
}

export function localLength({ name, extra, data }: EntryHeader): number {
  return LOCAL_HEADER_LENGTH + name.length + extra.length + data.length;
}

export function localHeader(entry: EntryHeader): Buffer {
  const header = Buffer.alloc(LOCAL_HEADER_LENGTH);
  header.writeUInt32LE(LOCAL_HEADER, 0);
  writeFields(header, 4, entry);
  return Buffer.concat([header, Buffer.from(entry.name, 'latin1'), entry.extra]);
}

/** Returns the directory record with a local header offset of zero. */
export function centralRecord(entry: EntryHeader): Buffer {
  const record = Buffer.alloc(CENTRAL_RECORD_LENGTH);
  record.writeUInt32LE(CENTRAL_RECORD, 0);
  record.writeUInt16LE(VERSION, 4);
  writeFields(record, 6, entry);
  return Buffer.concat([record, Buffer.from(entry.name, 'latin1'), entry.extra]);
}

/** Writes the fields that both records have in the same order, from "version needed to extract" on. */
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
