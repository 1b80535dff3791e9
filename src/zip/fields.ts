/** Signatures, lengths and limits of ZIP records (APPNOTE 6.3.10, section 4.3). All fields are little-endian. */

export const LOCAL_HEADER = 0x04034b50;
export const DATA_DESCRIPTOR = 0x08074b50;
export const CENTRAL_RECORD = 0x02014b50;
export const END_RECORD = 0x06054b50;
export const ZIP64_END_RECORD = 0x06064b50;
export const ZIP64_LOCATOR = 0x07064b50;

export const LOCAL_HEADER_LENGTH = 30;
export const CENTRAL_RECORD_LENGTH = 46;
export const END_RECORD_LENGTH = 22;
export const ZIP64_END_RECORD_LENGTH = 56;
export const ZIP64_LOCATOR_LENGTH = 20;

/**
 * Value of a 16-bit or 32-bit field which means that the real value is in the ZIP64 record or extra field (4.4.1.4).
 */
export const IN_ZIP64_16 = 0xffff;
export const IN_ZIP64_32 = 0xffffffff;
/** Header ID of the ZIP64 extended information extra field (4.5.3). */
export const ZIP64_EXTRA = 0x0001;

export const STORED = 0;
export const DEFLATED = 8;

/** General purpose bit 3 means that the sizes and the CRC-32 follow the data. */
export const HAS_DESCRIPTOR = 1 << 3;
/** General purpose bit 11 means that the name is in UTF-8. */
export const UTF8_NAME = 1 << 11;
/** General purpose bits 0 (encrypted), 5 (patch data), 6 (strong encryption) and 13 (masked header). */
export const UNREADABLE_FLAGS = (1 << 0) | (1 << 5) | (1 << 6) | (1 << 13);

export interface ExtraField {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

/** The last extra field may extend past the limit, and up to three bytes at the end are ignored. */
export function* extraFields(bytes: Buffer, start: number, limit: number): Generator<ExtraField> {
  for (let position = start; position + 4 <= limit; ) {
    const end = position + 4 + bytes.readUInt16LE(position + 2);
    yield { id: bytes.readUInt16LE(position), start: position + 4, end };
    position = end;
  }
}

export function findExtraField(bytes: Buffer, start: number, limit: number, id: number): ExtraField | undefined {
  for (const field of extraFields(bytes, start, limit)) {
    if (field.end > limit) return undefined;
    if (field.id === id) return field;
  }
  return undefined;
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads a 64-bit field as a number. Values above 2^53 are not exact, but they are larger than any file. */
export function readUInt64LE(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 2 ** 32;
}

export function writeUInt64LE(bytes: Buffer, value: number, offset: number): void {
  bytes.writeBigUInt64LE(BigInt(value), offset);
}
