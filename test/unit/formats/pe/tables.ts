/** Signed programs with another certificate table than signing makes. */

import { headerOffsets, slowChecksum } from './slow-pe.ts';

export interface Table {
  readonly offset: number;
  readonly length: number;
  readonly bytes: Buffer;
  /** What is in its first WIN_CERTIFICATE, padding and all. */
  readonly data: Buffer;
}

export function tableOf(signed: Buffer): Table {
  const { entry } = headerOffsets(signed);
  const offset = signed.readUInt32LE(entry);
  const length = signed.readUInt32LE(entry + 4);
  const bytes = signed.subarray(offset, offset + length);
  return { offset, length, bytes, data: bytes.subarray(8, bytes.readUInt32LE(0)) };
}

/** A WIN_CERTIFICATE of revision 2.0, padded with zeros; its dwLength does not count those unless told otherwise. */
export function withHeader(data: Uint8Array, { length = data.length + 8, type = 2 } = {}): Buffer {
  const bytes = Buffer.alloc(Math.ceil((data.length + 8) / 8) * 8);
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt16LE(0x0200, 4);
  bytes.writeUInt16LE(type, 6);
  bytes.set(data, 8);
  return bytes;
}

/** The program with these bytes for a table, and a right CheckSum. */
export function withCertificates(signed: Buffer, ...parts: readonly Buffer[]): Buffer {
  const { entry, checksum } = headerOffsets(signed);
  const { offset } = tableOf(signed);
  const result = Buffer.concat([signed.subarray(0, offset), ...parts]);
  result.writeUInt32LE(result.length - offset, entry + 4);
  result.writeUInt32LE(slowChecksum(result), checksum);
  return result;
}
