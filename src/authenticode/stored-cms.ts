import { readElement } from '../asn1/read.ts';
import type { ByteSource } from '../bytes/byte-source.ts';
import type { ByteRange } from '../bytes/pieces.ts';
import { orUndefined } from '../errors/codesign-error.ts';

export interface StoredCms {
  readonly cms: Uint8Array | undefined;
  readonly rest: Uint8Array;
}

/** Length in bytes. One signature takes a few kilobytes, and one with many nested signatures takes a few hundred. */
export const LONGEST_CMS = 16 * 1024 * 1024;
/** Signing programs pad a signature with zeros to a multiple of 8 bytes. */
const LONGEST_PADDING = 7;

export async function readStoredCms(source: ByteSource, { start, end }: ByteRange): Promise<StoredCms> {
  if (end - start > LONGEST_CMS) return { cms: undefined, rest: new Uint8Array() };
  // The bytes are copied: a source in memory returns views of its data, and a signature can be kept longer than the
  // file.
  return splitCms(Uint8Array.from(await source.read(start, end - start)));
}

/** If the range does not begin with an ASN.1 element, the CMS is the whole range, and reading it will fail later. */
export function splitCms(bytes: Uint8Array): StoredCms {
  const { length } = orUndefined(() => readElement(bytes, 'CMS').bytes) ?? bytes;
  return { cms: bytes.subarray(0, length), rest: bytes.subarray(length) };
}

export function isPadding(rest: Uint8Array): boolean {
  return rest.length <= LONGEST_PADDING && rest.every((byte) => byte === 0);
}
