/** Makes PE files with any bytes as their certificate table, and the digest that a signature in it covers. */

import { readFileSync } from 'node:fs';
import { headerOffsets, slowContent } from '../../unit/formats/pe/slow-pe.ts';
import { withHeader } from '../../unit/formats/pe/tables.ts';
import { fixture } from '../programs/cli.ts';

/** The committed program (PE32+, 1,536 bytes), unsigned and without a CheckSum, which a new table would make wrong. */
function program(): Buffer {
  const bytes = readFileSync(fixture('pe/hello.exe'));
  bytes.writeUInt32LE(0, headerOffsets(bytes).checksum);
  return bytes;
}

export const signedContent = () => slowContent(program());

export function peWithTable(table: Uint8Array, size = table.length): Buffer {
  const bytes = program();
  const { entry } = headerOffsets(bytes);
  bytes.writeUInt32LE(bytes.length, entry);
  bytes.writeUInt32LE(size, entry + 4);
  return Buffer.concat([bytes, table]);
}

export const peWithSignature = (cms: Uint8Array) => peWithTable(winCertificate(cms));

/** Padded to a multiple of 8, as its length says. */
export function winCertificate(data: Uint8Array): Buffer {
  return withHeader(data, { length: Math.ceil((8 + data.length) / 8) * 8 });
}
