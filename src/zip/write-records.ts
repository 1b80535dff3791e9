/** Writes records (APPNOTE 4.3.7, 4.3.12 to 4.3.16). The same contents always give the same bytes. */

import { crc32, deflateRawSync } from 'node:zlib';
import { plural } from '../errors/plural.ts';
import { LONGEST_RECORD } from './directory.ts';
import type { EndOfArchive } from './end-record.ts';
import { zipErrors } from './errors.ts';
import {
  CENTRAL_RECORD,
  CENTRAL_RECORD_LENGTH,
  DEFLATED,
  findExtraField,
  IN_ZIP64_16,
  IN_ZIP64_32,
  LOCAL_HEADER,
  LOCAL_HEADER_LENGTH,
  STORED,
  writeUInt64LE,
  ZIP64_END_RECORD,
  ZIP64_END_RECORD_LENGTH,
  ZIP64_EXTRA,
  ZIP64_LOCATOR,
  ZIP64_LOCATOR_LENGTH,
} from './fields.ts';

export interface NewEntry {
  /** Each character is one byte (latin1). */
  readonly name: string;
  readonly flags?: number;
  readonly method: number;
  readonly crc32: number;
  readonly size: number;
  readonly data: Uint8Array;
  readonly extra: Uint8Array;
}

/** A header depends only on the length of the data. */
export type EntryHeader = Omit<NewEntry, 'data'> & { readonly data: { readonly length: number } };

/** Version 2.0 is required for deflate. "Version made by" states no system, so entries have no permissions. */
const VERSION = 20;
/** In every time zone, 1980-02-01 is later than the epoch of MS-DOS. */
const DOS_DATE = (0 << 9) | (2 << 5) | 1;

export function deflatedEntry(name: string, contents: Uint8Array): NewEntry {
  const data = deflateRawSync(contents, { chunkSize: 256 * 1024 });
  return { ...describe(name, contents), method: DEFLATED, data };
}

const LONGEST_BLOCK = 0xffff;
export const PLAIN_BLOCK_HEADER_LENGTH = 5;

/** Writes stored blocks (RFC 1951, section 3.2.4): the bytes do not depend on the version of zlib. */
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

export function centralRecord(entry: EntryHeader): Buffer {
  const record = Buffer.alloc(CENTRAL_RECORD_LENGTH);
  record.writeUInt32LE(CENTRAL_RECORD, 0);
  record.writeUInt16LE(VERSION, 4);
  writeFields(record, 6, entry);
  return Buffer.concat([record, Buffer.from(entry.name, 'latin1'), entry.extra]);
}

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

export function movedRecord(record: Buffer, offset: number): Buffer {
  const isInZip64 = record.readUInt32LE(42) === IN_ZIP64_32;
  if (!isInZip64 && offset < IN_ZIP64_32) {
    const moved = Buffer.from(record);
    moved.writeUInt32LE(offset, 42);
    return moved;
  }
  const extraStart = CENTRAL_RECORD_LENGTH + record.readUInt16LE(28);
  const extra = findExtraField(record, extraStart, extraStart + record.readUInt16LE(30), ZIP64_EXTRA);
  const value = Buffer.alloc(8);
  writeUInt64LE(value, offset, 0);
  if (extra === undefined) {
    const header = Buffer.alloc(4);
    header.writeUInt16LE(ZIP64_EXTRA, 0);
    header.writeUInt16LE(value.length, 2);
    return withZip64Offset(record, extraStart, Buffer.concat([header, value]));
  }
  // The ZIP64 field contains a size only if the size in the record is the marker for ZIP64.
  const sizes = [record.readUInt32LE(24), record.readUInt32LE(20)].filter((size) => size === IN_ZIP64_32).length;
  const at = extra.start + sizes * 8;
  if (isInZip64) return Buffer.concat([record.subarray(0, at), value, record.subarray(at + 8)]);
  const moved = withZip64Offset(record, at, value);
  moved.writeUInt16LE(extra.end - extra.start + value.length, extra.start - 2);
  return moved;
}

function withZip64Offset(record: Buffer, at: number, inserted: Buffer): Buffer {
  if (record.length + inserted.length > LONGEST_RECORD) {
    const problem = 'the record of an entry beyond 4 GiB has no space for a ZIP64 field';
    throw zipErrors('zip-unsupported', { problem });
  }
  const moved = Buffer.concat([record.subarray(0, at), inserted, record.subarray(at)]);
  moved.writeUInt16LE(record.readUInt16LE(30) + inserted.length, 30);
  moved.writeUInt32LE(IN_ZIP64_32, 42);
  moved.writeUInt16LE(Math.max(ZIP64_VERSION, moved.readUInt16LE(6)), 6);
  return moved;
}

const ZIP64_VERSION = 45;

/**
 * Writes ZIP64 records if they existed before or are needed now. Other fields of the end records stay unchanged,
 * because a digest covers them. `directoryOffset` counts from the base.
 */
export function writeEndRecords(
  before: EndOfArchive,
  entryCount: number,
  directorySize: number,
  directoryOffset: number,
): Buffer {
  const record = Buffer.from(before.record);
  const needed = entryCount >= IN_ZIP64_16 || directorySize >= IN_ZIP64_32 || directoryOffset >= IN_ZIP64_32;
  const count = keepMarker(record.readUInt16LE(10), entryCount, IN_ZIP64_16, before);
  record.writeUInt16LE(count, 8);
  record.writeUInt16LE(count, 10);
  record.writeUInt32LE(keepMarker(record.readUInt32LE(12), directorySize, IN_ZIP64_32, before), 12);
  record.writeUInt32LE(keepMarker(record.readUInt32LE(16), directoryOffset, IN_ZIP64_32, before), 16);
  if (before.zip64 === undefined && !needed) return record;
  // `sign` computes the edits before it requests a signature, so this error costs no signature.
  if (before.trailingLength > 0) {
    const problem = `it would need ZIP64 records, and Java then does not open it, because ${plural(before.trailingLength, 'byte')} follow it`;
    throw zipErrors('zip-unsupported', { problem });
  }

  const zip64 = Buffer.from(before.zip64 ?? emptyZip64Record());
  writeUInt64LE(zip64, entryCount, 24);
  writeUInt64LE(zip64, entryCount, 32);
  writeUInt64LE(zip64, directorySize, 40);
  writeUInt64LE(zip64, directoryOffset, 48);
  const locator = Buffer.from(before.locator ?? newLocator());
  writeUInt64LE(locator, before.base + directoryOffset + directorySize - before.locatorBase, 8);
  return Buffer.concat([zip64, locator, record]);
}

/** A field that referred to the ZIP64 record before still refers to it. */
function keepMarker(old: number, value: number, marker: number, { zip64 }: EndOfArchive): number {
  return value >= marker || (zip64 !== undefined && old === marker) ? marker : value;
}

function newLocator(): Buffer {
  const locator = Buffer.alloc(ZIP64_LOCATOR_LENGTH);
  locator.writeUInt32LE(ZIP64_LOCATOR, 0);
  locator.writeUInt32LE(1, 16);
  return locator;
}

function emptyZip64Record(): Buffer {
  const record = Buffer.alloc(ZIP64_END_RECORD_LENGTH);
  record.writeUInt32LE(ZIP64_END_RECORD, 0);
  writeUInt64LE(record, ZIP64_END_RECORD_LENGTH - 12, 4);
  record.writeUInt16LE(ZIP64_VERSION, 12);
  record.writeUInt16LE(ZIP64_VERSION, 14);
  return record;
}
