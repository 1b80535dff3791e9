/** Signed programs with another certificate table than signing makes. */

import { headerOffsets, slowChecksum } from './slow-pe.ts';

export function tableOf(signed: Buffer) {
  const { entry } = headerOffsets(signed);
  const offset = signed.readUInt32LE(entry);
  const length = signed.readUInt32LE(entry + 4);
  const bytes = signed.subarray(offset, offset + length);
  /** `data`: what is in its first WIN_CERTIFICATE, padding and all. */
  return { offset, length, bytes, data: bytes.subarray(8, bytes.readUInt32LE(0)) };
}

/** A WIN_CERTIFICATE of revision 2.0, padded with zeros; its dwLength does not count those unless told otherwise. */
export function withHeader(data: Uint8Array, { length = data.length + 8 } = {}): Buffer {
  const bytes = Buffer.alloc(Math.ceil((data.length + 8) / 8) * 8);
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt16LE(0x0200, 4);
  bytes.writeUInt16LE(2, 6);
  bytes.set(data, 8);
  return bytes;
}

/** A copy, changed, and by default with the checksum that belongs to it. */
export function changed(bytes: Buffer, change: (copy: Buffer) => unknown, mendChecksum = true): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  if (mendChecksum) copy.writeUInt32LE(slowChecksum(copy), headerOffsets(copy).checksum);
  return copy;
}

/** The program with these bytes for a table, and a right CheckSum. */
export function withCertificates(signed: Buffer, ...parts: readonly Buffer[]): Buffer {
  const { offset } = tableOf(signed);
  const result = Buffer.concat([signed.subarray(0, offset), ...parts]);
  return changed(result, (copy) => copy.writeUInt32LE(result.length - offset, headerOffsets(copy).entry + 4));
}
