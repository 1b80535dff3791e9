import { plural } from '../errors/plural.ts';
import type { EndOfArchive } from './end-record.ts';
import { zipErrors } from './errors.ts';
import {
  CENTRAL_RECORD_LENGTH,
  findExtraField,
  IN_ZIP64_16,
  IN_ZIP64_32,
  writeUInt64LE,
  ZIP64_END_RECORD,
  ZIP64_END_RECORD_LENGTH,
  ZIP64_EXTRA,
  ZIP64_LOCATOR,
  ZIP64_LOCATOR_LENGTH,
} from './fields.ts';

export function movedRecord(record: Buffer, offset: number): Buffer {
  if (record.readUInt32LE(42) === IN_ZIP64_32) return rewriteZip64(record, offset);
  if (offset >= IN_ZIP64_32) return widen(record, offset);
  const moved = Buffer.from(record);
  moved.writeUInt32LE(offset, 42);
  return moved;
}

/** The field contains those of size, compressed size and offset that do not fit the record. */
function offsetInZip64(record: Buffer, start: number): number {
  const before = [record.readUInt32LE(24), record.readUInt32LE(20)].filter((value) => value === IN_ZIP64_32).length;
  return start + before * 8;
}

function zip64Of(record: Buffer) {
  const extraStart = CENTRAL_RECORD_LENGTH + record.readUInt16LE(28);
  return findExtraField(record, extraStart, extraStart + record.readUInt16LE(30), ZIP64_EXTRA);
}

function rewriteZip64(record: Buffer, offset: number): Buffer {
  const moved = Buffer.from(record);
  const extra = zip64Of(record);
  if (extra === undefined) throw new TypeError('a record that was read has its ZIP64 field');
  writeUInt64LE(moved, offset, offsetInZip64(record, extra.start));
  return moved;
}

/** Moves an offset of more than 32 bits to the ZIP64 extra field, which is created if it is missing. */
function widen(record: Buffer, offset: number): Buffer {
  const extra = zip64Of(record);
  const value = Buffer.alloc(8);
  writeUInt64LE(value, offset, 0);
  const at = extra === undefined ? CENTRAL_RECORD_LENGTH + record.readUInt16LE(28) : offsetInZip64(record, extra.start);
  const header = Buffer.alloc(extra === undefined ? 4 : 0);
  if (extra === undefined) {
    header.writeUInt16LE(ZIP64_EXTRA, 0);
    header.writeUInt16LE(value.length, 2);
  }
  const widened = Buffer.concat([record.subarray(0, at), header, value, record.subarray(at)]);
  const extraLength = record.readUInt16LE(30) + header.length + value.length;
  if (extraLength > 0xffff) {
    throw zipErrors('zip-unsupported', {
      problem: 'an entry beyond 4 GiB has no room for a ZIP64 field in its record',
    });
  }
  widened.writeUInt16LE(extraLength, 30);
  widened.writeUInt32LE(IN_ZIP64_32, 42);
  widened.writeUInt16LE(Math.max(ZIP64_VERSION, widened.readUInt16LE(6)), 6);
  if (extra !== undefined) widened.writeUInt16LE(extra.end - extra.start + value.length, extra.start - 2);
  return widened;
}

const ZIP64_VERSION = 45;

/**
 * Returns the ZIP64 end record and locator, if they existed or are needed now, and the end record. The archive's
 * comment follows. Fields other than counts, sizes and offsets do not change, because a digest covers them.
 *
 * `directoryOffset` is the value to record, which counts from the base.
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
  // Found before a signature is requested, because the edits are also computed once without one.
  if (before.trailingLength > 0) {
    const problem = `it would need ZIP64 records, with which Java does not open it while it is followed by ${plural(before.trailingLength, 'byte')}`;
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

/** A field that referred to the ZIP64 record continues to do so. */
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
