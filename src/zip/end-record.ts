/** Finds the end record and its ZIP64 records (APPNOTE 4.3.14 to 4.3.16). */

import type { ByteSource } from '../bytes/byte-source.ts';
import { type CodesignError, expectedError } from '../errors/codesign-error.ts';
import { plural } from '../errors/plural.ts';
import { zipErrors } from './errors.ts';
import {
  asBuffer,
  CENTRAL_RECORD,
  END_RECORD,
  END_RECORD_LENGTH,
  IN_ZIP64_16,
  IN_ZIP64_32,
  LOCAL_HEADER,
  readUInt64LE,
  ZIP64_END_RECORD,
  ZIP64_END_RECORD_LENGTH,
  ZIP64_LOCATOR,
  ZIP64_LOCATOR_LENGTH,
} from './fields.ts';

export interface EndOfArchive {
  readonly entryCount: number;
  readonly directoryOffset: number;
  readonly directorySize: number;
  /** Recorded offsets count from here: from 0, or from the end of data that was added before the archive. */
  readonly base: number;
  readonly record: Buffer;
  readonly recordOffset: number;
  readonly zip64: Buffer | undefined;
  readonly locator: Buffer | undefined;
  /** The offset in the locator counts from here. Java counts the offset from the start of the file. */
  readonly locatorBase: number;
  readonly trailingLength: number;
}

/** The recorded size of a ZIP64 end record does not include these bytes: its signature and its size field. */
const ZIP64_SIZE_END = 12;
const LONGEST_ZIP64_END_RECORD = 0x10000;
const LONGEST_TAIL = END_RECORD_LENGTH + 0xffff;

/** Like Java, searches backwards, and prefers an end record whose comment ends at the end of the file. */
export async function findEndOfArchive(source: ByteSource): Promise<EndOfArchive> {
  const possible = await readPossibleEnds(source);
  const { found, failure } = await findCandidates(source, possible);
  const end = found.find(({ trailingLength }) => trailingLength === 0) ?? found[0];
  if (end === undefined) {
    throw failure ?? zipErrors('zip-malformed', { problem: 'no end record points to a directory' });
  }
  // End records before the directory belong to nested archives in entries.
  const isRival = found.some((other) => other !== end && other.recordOffset >= end.directoryOffset);
  if (isRival || (await hasRival(source, possible, end))) {
    throw zipErrors('zip-ambiguous', { problem: 'it has two end records' });
  }
  if (!(await isAcceptedByJava(source, end))) {
    const problem = `${plural(end.trailingLength, 'byte')} follow it, so Java does not open it`;
    throw zipErrors('zip-malformed', { problem });
  }
  return end;
}

interface PossibleEnd {
  readonly record: Buffer;
  readonly offset: number;
}

async function readPossibleEnds(source: ByteSource): Promise<readonly PossibleEnd[]> {
  const start = Math.max(0, source.size - LONGEST_TAIL);
  const tail = asBuffer(await source.read(start, source.size - start));
  const found: PossibleEnd[] = [];
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(END_RECORD);
  for (let end = tail.length - END_RECORD_LENGTH; end >= 0; ) {
    const position = tail.lastIndexOf(signature, end);
    if (position < 0) break;
    found.push({ record: tail.subarray(position, position + END_RECORD_LENGTH), offset: start + position });
    end = position - 1;
  }
  return found;
}

/** Returns true if another end record points to a directory, even if its counts, disks or comment are wrong. */
async function hasRival(
  source: ByteSource,
  possible: readonly PossibleEnd[],
  { directoryOffset, recordOffset }: EndOfArchive,
): Promise<boolean> {
  for (const { record, offset } of possible) {
    if (offset < directoryOffset || offset === recordOffset) continue;
    const directory = offset - record.readUInt32LE(12);
    if (directory >= 0 && (await hasSignature(source, directory, CENTRAL_RECORD))) return true;
  }
  return false;
}

/** Throws if another end record would point to a directory after entries are added. */
export async function rejectFutureRival(source: ByteSource, { directoryOffset, recordOffset }: EndOfArchive) {
  for (const { record, offset } of await readPossibleEnds(source)) {
    if (offset < directoryOffset || offset === recordOffset) continue;
    // If its directory size is smaller, the other end record points to an offset after the directory, even if the
    // directory grows.
    const isInDirectory = offset < recordOffset;
    if (record.readUInt32LE(12) > (isInDirectory ? 0 : offset - recordOffset)) {
      const problem = `it has a second end record at byte ${offset}`;
      throw zipErrors('zip-ambiguous', { problem });
    }
  }
}

async function findCandidates(source: ByteSource, possible: readonly PossibleEnd[]) {
  const found: EndOfArchive[] = [];
  let failure: CodesignError | undefined;
  for (const { record, offset } of possible) {
    const isDecisive = offset + END_RECORD_LENGTH + record.readUInt16LE(20) === source.size;
    try {
      const end = await readEnd(source, record, offset);
      if (end !== undefined && (await leadsToDirectory(source, end))) found.push(end);
      else if (isDecisive) break;
    } catch (thrown) {
      const error = expectedError(thrown);
      failure ??= error;
      if (isDecisive) break;
    }
  }
  return { found, failure };
}

/** Finds the signature of an end record. Less reliable than `findEndOfArchive`, but faster. */
export async function endsLikeArchive(source: ByteSource): Promise<boolean> {
  return (await readPossibleEnds(source)).length > 0;
}

async function readEnd(source: ByteSource, record: Buffer, recordOffset: number): Promise<EndOfArchive | undefined> {
  const trailingLength = source.size - (recordOffset + END_RECORD_LENGTH + record.readUInt16LE(20));
  if (trailingLength < 0) return undefined;
  const found = await findZip64(source, recordOffset);
  const { entryCount, directorySize, recordedOffset } = readFields(record, found?.zip64);
  const directoryOffset = (found?.offset ?? recordOffset) - directorySize;
  const base = directoryOffset - recordedOffset;
  if (directoryOffset < 0 || base < 0) return undefined;
  checkOnePart(record, found?.zip64);
  const { zip64, locator, locatorBase = 0 } = found ?? {};
  const directory = { entryCount, directoryOffset, directorySize, base };
  return { ...directory, record, recordOffset, zip64, locator, locatorBase, trailingLength };
}

async function leadsToDirectory(source: ByteSource, end: EndOfArchive): Promise<boolean> {
  // Rejects bytes after an empty archive, because any record signature with zeros after it looks like an empty archive.
  if (end.entryCount === 0) return end.directorySize === 0 && end.trailingLength === 0;
  return end.directorySize >= 4 && (await hasSignature(source, end.directoryOffset, CENTRAL_RECORD));
}

/** If bytes follow the comment, Java opens the archive only if the end record points to the first entry. */
async function isAcceptedByJava(source: ByteSource, { trailingLength, zip64, base }: EndOfArchive): Promise<boolean> {
  return trailingLength === 0 || (zip64 === undefined && (await hasSignature(source, base, LOCAL_HEADER)));
}

async function hasSignature(source: ByteSource, offset: number, signature: number): Promise<boolean> {
  return asBuffer(await source.read(offset, 4)).readUInt32LE(0) === signature;
}

/** The ZIP64 end record, its locator and the end record must be adjacent. */
async function findZip64(source: ByteSource, recordOffset: number) {
  const locatorOffset = recordOffset - ZIP64_LOCATOR_LENGTH;
  if (locatorOffset < ZIP64_END_RECORD_LENGTH) return undefined;
  const locator = asBuffer(await source.read(locatorOffset, ZIP64_LOCATOR_LENGTH));
  if (locator.readUInt32LE(0) !== ZIP64_LOCATOR) return undefined;
  if (locator.readUInt32LE(16) > 1) throw inSeveralParts();
  // If data was added before the archive, the offset in the locator is too small.
  for (const offset of [readUInt64LE(locator, 8), locatorOffset - ZIP64_END_RECORD_LENGTH]) {
    if (offset < 0 || offset + ZIP64_END_RECORD_LENGTH > locatorOffset) continue;
    const start = asBuffer(await source.read(offset, ZIP64_SIZE_END));
    const isRecord = start.readUInt32LE(0) === ZIP64_END_RECORD;
    if (!isRecord || readUInt64LE(start, 4) + ZIP64_SIZE_END !== locatorOffset - offset) continue;
    if (locatorOffset - offset > LONGEST_ZIP64_END_RECORD) break;
    const zip64 = asBuffer(await source.read(offset, locatorOffset - offset));
    return { zip64, locator, offset, locatorBase: offset - readUInt64LE(locator, 8) };
  }
  throw zipErrors('zip-malformed', { problem: 'its ZIP64 locator does not point to a ZIP64 end record' });
}

function checkOnePart(record: Buffer, zip64: Buffer | undefined): void {
  const isFirst = [4, 6].every((at) => [0, zip64 === undefined ? 0 : IN_ZIP64_16].includes(record.readUInt16LE(at)));
  const isWhole = record.readUInt16LE(8) === record.readUInt16LE(10);
  const isWholeInZip64 =
    zip64 === undefined ||
    (zip64.readUInt32LE(16) === 0 &&
      zip64.readUInt32LE(20) === 0 &&
      readUInt64LE(zip64, 24) === readUInt64LE(zip64, 32));
  if (!isFirst || !isWhole || !isWholeInZip64) throw inSeveralParts();
}

function inSeveralParts(): CodesignError {
  return zipErrors('zip-unsupported', { problem: 'it is one part of a multi-part archive' });
}

function readFields(record: Buffer, zip64: Buffer | undefined) {
  const entryCount = record.readUInt16LE(10);
  const directorySize = record.readUInt32LE(12);
  const recordedOffset = record.readUInt32LE(16);
  if (zip64 === undefined) return { entryCount, directorySize, recordedOffset };
  const fields = {
    entryCount: readUInt64LE(zip64, 32),
    directorySize: readUInt64LE(zip64, 40),
    recordedOffset: readUInt64LE(zip64, 48),
  };
  const agree =
    (entryCount === IN_ZIP64_16 || entryCount === fields.entryCount) &&
    (directorySize === IN_ZIP64_32 || directorySize === fields.directorySize) &&
    (recordedOffset === IN_ZIP64_32 || recordedOffset === fields.recordedOffset);
  if (!agree) throw zipErrors('zip-ambiguous', { problem: 'its end record and its ZIP64 end record differ' });
  return fields;
}

/** Some programs set the disk fields only in a ZIP64 record. */
export function withoutDisks(end: EndOfArchive): EndOfArchive {
  const record = Buffer.from(end.record).fill(0, 4, 8);
  const locator = end.locator && Buffer.from(end.locator).fill(0, 4, 8);
  locator?.writeUInt32LE(1, 16);
  return { ...end, record, locator };
}
