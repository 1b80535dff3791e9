/** All fields are little-endian (APPNOTE 6.3.10, section 4.3). */

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

/** A field with this value refers to the ZIP64 end record or the ZIP64 extra field (4.4.1.4). */
export const IN_ZIP64_16 = 0xffff;
export const IN_ZIP64_32 = 0xffffffff;
export const ZIP64_EXTRA = 0x0001;

export const STORED = 0;
export const DEFLATED = 8;

/** This flag means that the sizes and the CRC-32 follow the data. */
export const HAS_DESCRIPTOR = 1 << 3;
export const UTF8_NAME = 1 << 11;
/** Flags for encryption, patch data, strong encryption and a masked header. */
export const UNREADABLE_FLAGS = (1 << 0) | (1 << 5) | (1 << 6) | (1 << 13);

export interface ExtraField {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

/** The last extra field can extend past `limit`. Ignores up to three bytes at the end, as Java does. */
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

export function readUInt64LE(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 2 ** 32;
}

export function writeUInt64LE(bytes: Buffer, value: number, offset: number): void {
  bytes.writeBigUInt64LE(BigInt(value), offset);
}
