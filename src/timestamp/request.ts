/** The request for a timestamp (RFC 3161, 2.4.1). */

import { encode, objectIdentifier, octetString, sequence, smallInteger } from '../asn1/write.ts';
import { digestAlgorithm } from '../cms/build-signed-data.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';

export interface TimestampRequest {
  readonly algorithm: DigestAlgorithm;
  /** The digest that the timestamp is to be of. */
  readonly digest: Uint8Array;
  /** Dotted; undefined for whichever policy the authority has. */
  readonly policy?: string | undefined;
  /** The contents of an INTEGER, from `nonceOf`. */
  readonly nonce: Uint8Array;
}

export const NONCE_LENGTH = 8;
const INTEGER_TAG = 0x02;
const VERSION = 1;
/** certReq TRUE: the authority's certificate comes with the token, so that it can be checked now and for ever. */
const WITH_CERTIFICATE = Uint8Array.of(0x01, 0x01, 0xff);

/** TimeStampReq in DER. */
export function buildTimestampRequest({ algorithm, digest, policy, nonce }: TimestampRequest): Uint8Array {
  return sequence(
    smallInteger(VERSION),
    sequence(digestAlgorithm(algorithm), octetString(digest)),
    ...(policy === undefined ? [] : [objectIdentifier(policy)]),
    encode(INTEGER_TAG, nonce),
    WITH_CERTIFICATE,
  );
}

/**
 * Random bytes as the contents of a non-negative INTEGER in as few octets as DER wants. The top bit is cleared, and not an
 * octet put before it: some authorities cannot give back nonces of more than 64 bits.
 */
export function nonceOf(random: Uint8Array): Uint8Array {
  const octets = Uint8Array.from(random);
  octets[0] = (octets[0] ?? 0) & 0x7f;
  return withoutLeadingZeros(octets);
}

/** Whether two INTEGERs, given by their contents, are the same number; not both are by this program, so not both minimal. */
export function isSameInteger(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(withoutLeadingZeros(a), withoutLeadingZeros(b)) === 0;
}

function withoutLeadingZeros(octets: Uint8Array): Uint8Array {
  let start = 0;
  while (start < octets.length - 1 && octets[start] === 0 && (octets[start + 1] ?? 0) < 0x80) start += 1;
  return octets.subarray(start);
}
