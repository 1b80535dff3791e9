/**
 * Identifiers from RFC 3370, 3279, 4055, 5480, 5754, 5758, 8017, 8410 and 8419, and from NIST's register of algorithms.
 */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';

export const RSA_ENCRYPTION = '1.2.840.113549.1.1.1';
export const SHA1_WITH_RSA = '1.2.840.113549.1.1.5';
export const MGF1 = '1.2.840.113549.1.1.8';
export const RSA_PSS = '1.2.840.113549.1.1.10';
export const MD5 = '1.2.840.113549.2.5';
export const SHA512_224 = '2.16.840.1.101.3.4.2.5';
export const SHA512_256 = '2.16.840.1.101.3.4.2.6';
/** id-shake256-len, used only in Ed448 signatures (RFC 8419, section 3.1). */
export const SHAKE256_512 = '2.16.840.1.101.3.4.2.18';

export const DIGEST_OID: Readonly<Record<DigestAlgorithm, string>> = {
  SHA1: '1.3.14.3.2.26',
  SHA256: '2.16.840.1.101.3.4.2.1',
  SHA384: '2.16.840.1.101.3.4.2.2',
  SHA512: '2.16.840.1.101.3.4.2.3',
};

/** If `nodeName` is missing, node:crypto does not support the digest, so its name is only displayed. */
const DIGESTS: readonly (readonly [oid: string, name: string, nodeName?: string])[] = [
  ['1.2.840.113549.2.2', 'MD2'],
  ['1.2.840.113549.2.4', 'MD4'],
  [MD5, 'MD5', 'md5'],
  [DIGEST_OID.SHA1, 'SHA-1', 'sha1'],
  ['1.3.36.3.2.1', 'RIPEMD-160'],
  [DIGEST_OID.SHA256, 'SHA-256', 'sha256'],
  [DIGEST_OID.SHA384, 'SHA-384', 'sha384'],
  [DIGEST_OID.SHA512, 'SHA-512', 'sha512'],
  ['2.16.840.1.101.3.4.2.4', 'SHA-224', 'sha224'],
  [SHA512_224, 'SHA-512/224'],
  [SHA512_256, 'SHA-512/256'],
  ['2.16.840.1.101.3.4.2.7', 'SHA3-224', 'sha3-224'],
  ['2.16.840.1.101.3.4.2.8', 'SHA3-256', 'sha3-256'],
  ['2.16.840.1.101.3.4.2.9', 'SHA3-384', 'sha3-384'],
  ['2.16.840.1.101.3.4.2.10', 'SHA3-512', 'sha3-512'],
  ['2.16.840.1.101.3.4.2.11', 'SHAKE128'],
  ['2.16.840.1.101.3.4.2.12', 'SHAKE256'],
  ['1.2.156.10197.1.401', 'SM3'],
  ['1.2.643.7.1.1.2.2', 'Streebog-256'],
  ['1.2.643.7.1.1.2.3', 'Streebog-512'],
];

/**
 * A digest of null means that the algorithm includes its own digest. Certificates are rejected if their algorithm has
 * no digest in this table. Old tools wrote the identifier of a key type, or identifiers from OIW and X.500.
 */
const SIGNATURES: readonly (readonly [
  oid: string,
  name?: string | undefined,
  keyType?: string,
  digest?: string | null,
])[] = [
  ['1.2.840.113549.1.1.1', 'RSA', 'rsa'],
  ['1.2.840.113549.1.1.2', 'RSA with MD2', 'rsa', 'md2'],
  ['1.2.840.113549.1.1.3', 'RSA with MD4', 'rsa', 'md4'],
  ['1.2.840.113549.1.1.4', 'RSA with MD5', 'rsa', 'md5'],
  ['1.2.840.113549.1.1.5', 'RSA with SHA-1', 'rsa', 'sha1'],
  ['1.2.840.113549.1.1.10', 'RSA-PSS', 'rsa'],
  ['1.2.840.113549.1.1.11', 'RSA with SHA-256', 'rsa', 'sha256'],
  ['1.2.840.113549.1.1.12', 'RSA with SHA-384', 'rsa', 'sha384'],
  ['1.2.840.113549.1.1.13', 'RSA with SHA-512', 'rsa', 'sha512'],
  ['1.2.840.113549.1.1.14', 'RSA with SHA-224', 'rsa', 'sha224'],
  ['1.2.840.113549.1.1.15', undefined, 'rsa', 'sha512-224'],
  ['1.2.840.113549.1.1.16', undefined, 'rsa', 'sha512-256'],
  ['1.3.14.3.2.2', undefined, 'rsa'],
  ['1.3.14.3.2.3', undefined, 'rsa'],
  ['1.3.14.3.2.4', undefined, 'rsa'],
  ['1.3.14.3.2.15', undefined, 'rsa'],
  ['1.3.14.3.2.29', 'RSA with SHA-1', 'rsa', 'sha1'],
  ['2.5.8.1.1', undefined, 'rsa'],
  ['2.16.840.1.101.3.4.3.13', 'RSA with SHA3-224', 'rsa', 'sha3-224'],
  ['2.16.840.1.101.3.4.3.14', 'RSA with SHA3-256', 'rsa', 'sha3-256'],
  ['2.16.840.1.101.3.4.3.15', 'RSA with SHA3-384', 'rsa', 'sha3-384'],
  ['2.16.840.1.101.3.4.3.16', 'RSA with SHA3-512', 'rsa', 'sha3-512'],
  ['1.2.840.10040.4.1', 'DSA', 'dsa'],
  ['1.2.840.10040.4.3', 'DSA with SHA-1', 'dsa', 'sha1'],
  ['1.3.14.3.2.12', undefined, 'dsa'],
  ['1.3.14.3.2.13', undefined, 'dsa'],
  ['1.3.14.3.2.27', 'DSA with SHA-1', 'dsa'],
  ['2.16.840.1.101.3.4.3.1', 'DSA with SHA-224', 'dsa', 'sha224'],
  ['2.16.840.1.101.3.4.3.2', 'DSA with SHA-256', 'dsa', 'sha256'],
  ['2.16.840.1.101.3.4.3.3', 'DSA with SHA-384', 'dsa', 'sha384'],
  ['2.16.840.1.101.3.4.3.4', 'DSA with SHA-512', 'dsa', 'sha512'],
  ['2.16.840.1.101.3.4.3.5', undefined, 'dsa'],
  ['2.16.840.1.101.3.4.3.6', undefined, 'dsa'],
  ['2.16.840.1.101.3.4.3.7', undefined, 'dsa'],
  ['2.16.840.1.101.3.4.3.8', undefined, 'dsa'],
  ['1.2.840.10045.2.1', 'EC public key', 'ec'],
  ['1.2.840.10045.4.1', 'ECDSA with SHA-1', 'ec', 'sha1'],
  ['1.2.840.10045.4.3', undefined, 'ec'],
  ['1.2.840.10045.4.3.1', 'ECDSA with SHA-224', 'ec', 'sha224'],
  ['1.2.840.10045.4.3.2', 'ECDSA with SHA-256', 'ec', 'sha256'],
  ['1.2.840.10045.4.3.3', 'ECDSA with SHA-384', 'ec', 'sha384'],
  ['1.2.840.10045.4.3.4', 'ECDSA with SHA-512', 'ec', 'sha512'],
  ['2.16.840.1.101.3.4.3.9', 'ECDSA with SHA3-224', 'ec', 'sha3-224'],
  ['2.16.840.1.101.3.4.3.10', 'ECDSA with SHA3-256', 'ec', 'sha3-256'],
  ['2.16.840.1.101.3.4.3.11', 'ECDSA with SHA3-384', 'ec', 'sha3-384'],
  ['2.16.840.1.101.3.4.3.12', 'ECDSA with SHA3-512', 'ec', 'sha3-512'],
  ['1.3.101.112', 'Ed25519', 'ed25519', null],
  ['1.3.101.113', 'Ed448', 'ed448', null],
  ['1.2.156.10197.1.501', 'SM2 with SM3'],
  ['1.2.840.113549.1.1.7', 'RSA-OAEP'],
  ['1.2.840.113549.1.1.8', 'MGF1'],
  ['2.16.840.1.101.3.4.3.17', 'ML-DSA-44'],
  ['2.16.840.1.101.3.4.3.18', 'ML-DSA-65'],
  ['2.16.840.1.101.3.4.3.19', 'ML-DSA-87'],
];

export const DIGEST_NAME_BY_OID: Readonly<Record<string, string>> = Object.fromEntries(
  DIGESTS.flatMap(([oid, , nodeName]) => (nodeName === undefined ? [] : [[oid, nodeName]])),
);

const SIGNATURE_BY_OID = new Map(SIGNATURES.map((row) => [row[0], row]));

/** Returns undefined for digests that the API does not support (MD5, SHA-224, SHA-3). */
export function digestAlgorithmOf(oid: string): DigestAlgorithm | undefined {
  return (Object.keys(DIGEST_OID) as DigestAlgorithm[]).find((algorithm) => DIGEST_OID[algorithm] === oid);
}

export function algorithmName(oid: string): string | undefined {
  return SIGNATURE_BY_OID.get(oid)?.[1] ?? DIGESTS.find(([known]) => known === oid)?.[1];
}

export function digestOfSignature(oid: string): string | null | undefined {
  return SIGNATURE_BY_OID.get(oid)?.[3];
}

/** Unlike `isAlgorithmOf`, this function does not check the type of the key. */
export function isVerifiable(oid: string): boolean {
  return SIGNATURE_BY_OID.get(oid)?.[2] !== undefined;
}

export function isAlgorithmOf(keyType: string | undefined, oid: string): boolean {
  if (keyType === 'rsa-pss') return oid === RSA_PSS;
  return keyType !== undefined && SIGNATURE_BY_OID.get(oid)?.[2] === keyType;
}
