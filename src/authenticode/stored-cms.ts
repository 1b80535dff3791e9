import { readElement } from '../asn1/read.ts';
import type { ByteSource } from '../bytes/byte-source.ts';
import type { ByteRange } from '../bytes/pieces.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import { broken, type Finding } from '../errors/finding.ts';
import { plural } from '../errors/plural.ts';

export interface StoredCms {
  readonly cms: Uint8Array | undefined;
  readonly rest: Uint8Array;
}

/** A signature is a few kilobytes long, or a few hundred kilobytes if it contains many nested signatures. */
export const LONGEST_CMS = 16 * 1024 * 1024;
/** Signing programs pad signatures with zeros to a multiple of 8 bytes. */
const LONGEST_PADDING = 7;

export const TOO_LONG: StoredCms = { cms: undefined, rest: new Uint8Array() };

export async function readStoredCms(source: ByteSource, { start, end }: ByteRange): Promise<StoredCms> {
  if (end - start > LONGEST_CMS) return TOO_LONG;
  // Copies the bytes, because a source in memory returns views, and a signature can be kept longer than its file.
  return splitCms(Uint8Array.from(await source.read(start, end - start)));
}

/** Returns all bytes as the CMS signature if they do not begin with an ASN.1 element. */
export function splitCms(bytes: Uint8Array): StoredCms {
  const { length } = orUndefined(() => readElement(bytes, 'CMS').bytes) ?? bytes;
  return { cms: bytes.subarray(0, length), rest: bytes.subarray(length) };
}

export function isPadding(rest: Uint8Array): boolean {
  return rest.length <= LONGEST_PADDING && rest.every((byte) => byte === 0);
}

/** Windows accepts bytes after the CMS signature by default (CVE-2013-3900). */
export function examineRest(stored: StoredCms | undefined): readonly Finding[] {
  if (stored === undefined || isPadding(stored.rest)) return [];
  const size = plural(stored.rest.length, 'byte');
  return [broken('hidden-bytes', `The file hides ${size} after the signature, which no signature covers.`)];
}
