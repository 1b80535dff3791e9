/** Object identifiers of CMS (RFC 5652), of digests and of signature algorithms (RFC 3370, 5754, 8017), dotted. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';

export const DATA = '1.2.840.113549.1.7.1';
export const SIGNED_DATA = '1.2.840.113549.1.7.2';
export const CONTENT_TYPE = '1.2.840.113549.1.9.3';
export const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
/** RFC 3161, appendix A: id-aa-timeStampToken. */
export const TIMESTAMP_TOKEN = '1.2.840.113549.1.9.16.2.14';
/** PKCS#9, 6.6 and RFC 5652, 11.4: the older kind of timestamp. */
export const COUNTER_SIGNATURE = '1.2.840.113549.1.9.6';
export const RSA_ENCRYPTION = '1.2.840.113549.1.1.1';
export const RSA_PSS = '1.2.840.113549.1.1.10';
export const SHA1_WITH_RSA = '1.2.840.113549.1.1.5';

export const DIGEST_OID: Readonly<Record<DigestAlgorithm, string>> = {
  SHA1: '1.3.14.3.2.26',
  SHA256: '2.16.840.1.101.3.4.2.1',
  SHA384: '2.16.840.1.101.3.4.2.2',
  SHA512: '2.16.840.1.101.3.4.2.3',
};

/** What node:crypto calls the digests that signatures of others are made with; MD5 is found in old ones. */
export const DIGEST_NAME_BY_OID: Readonly<Record<string, string>> = {
  [DIGEST_OID.SHA1]: 'sha1',
  [DIGEST_OID.SHA256]: 'sha256',
  [DIGEST_OID.SHA384]: 'sha384',
  [DIGEST_OID.SHA512]: 'sha512',
  '1.2.840.113549.2.5': 'md5',
  '2.16.840.1.101.3.4.2.4': 'sha224',
  '2.16.840.1.101.3.4.2.7': 'sha3-224',
  '2.16.840.1.101.3.4.2.8': 'sha3-256',
  '2.16.840.1.101.3.4.2.9': 'sha3-384',
  '2.16.840.1.101.3.4.2.10': 'sha3-512',
};

/** The API's algorithm of a digest's object identifier; undefined for the others (MD5, SHA-224, SHA-3). */
export function digestAlgorithmOf(oid: string): DigestAlgorithm | undefined {
  return (Object.keys(DIGEST_OID) as DigestAlgorithm[]).find((algorithm) => DIGEST_OID[algorithm] === oid);
}
