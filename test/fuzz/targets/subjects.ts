/** Files that are signed, timestamped and trusted as they are, and what in them is signed. */

import { readElement } from '../../../src/asn1/read.ts';
import { parseSignedData, type SignedData } from '../../../src/cms/parse-signed-data.ts';
import type { Format } from '../../../src/format/format.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { headerOffsets } from '../../unit/formats/pe/slow-pe.ts';
import { openBytes } from '../../unit/formats/support/sign-bytes.ts';

export interface Subject {
  readonly format: Format;
  readonly bytes: Buffer;
  /** Where its signatures begin. */
  readonly start: number;
  /** The first CMS that stands in the file. */
  readonly cms: Uint8Array;
  /** With another CMS in its place. */
  with(cms: Uint8Array): Buffer;
}

export async function makeSubject(format: Format, original: Buffer): Promise<Subject> {
  const bytes = Buffer.from(original);
  const found = (await (await openBytes(format, bytes)).signatures()).map(({ envelope }) => envelope.bytes);
  const [cms = new Uint8Array()] = found;
  return format === pe ? program(bytes, cms) : archive(bytes, cms, found);
}

function program(bytes: Buffer, cms: Uint8Array): Subject {
  // CheckSum is checked, and anyone who changes a file on purpose puts it right; without one the other checks are alone.
  const { checksum, entry } = headerOffsets(bytes);
  bytes.writeUInt32LE(0, checksum);
  const start = bytes.readUInt32LE(entry);
  return {
    format: pe,
    bytes,
    start,
    cms,
    with(other) {
      const length = Math.ceil((8 + other.length) / 8) * 8;
      const table = Buffer.alloc(length);
      bytes.copy(table, 0, start, start + 8);
      table.writeUInt32LE(length);
      table.set(other, 8);
      const changed = Buffer.concat([bytes.subarray(0, start), table]);
      changed.writeUInt32LE(length, entry + 4);
      return changed;
    },
  };
}

function archive(bytes: Buffer, cms: Uint8Array, all: readonly Uint8Array[]): Subject {
  const at = bytes.indexOf(cms);
  return {
    format: jar,
    bytes,
    start: Math.min(...all.map((each) => bytes.indexOf(each))),
    cms,
    // Of the same length only: the archive's own records stay as they are. Zeros behind it are a finding and no fault.
    with(other) {
      const changed = Buffer.from(bytes).fill(0, at, at + cms.length);
      changed.set(other.subarray(0, cms.length), at);
      return changed;
    },
  };
}

/** Bytes of a trusted signer, which must be in every file that is trusted because of that signer. */
export function vouchedFor(cms: Uint8Array): readonly Uint8Array[] {
  const signedData = parseSignedData(cms);
  const [{ signedBytes, signature, certificate }] = signedData.signers;
  const attributes = signedBytes === undefined ? [] : [readElement(signedBytes, 'attributes').contents];
  return [...contentOf(signedData), ...attributes, signature, ...(certificate === undefined ? [] : [certificate])];
}

/** What messageDigest is over; of a content in pieces, none. */
function contentOf({ content }: SignedData): readonly Uint8Array[] {
  if (content === undefined || content.tag === 0x24) return [];
  return [content.contents];
}
