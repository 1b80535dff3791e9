/** Signature algorithms as certificates, CRLs and OCSP answers name them (RFC 3279, 4055, 5758, 8410). */

import { constants, type KeyObject, verify } from 'node:crypto';
import { type Element, fieldsOf, objectIdentifierOf, onlyPart, readDer } from '../asn1/read.ts';
import { CodesignError } from '../errors/codesign-error.ts';

export interface SignatureAlgorithm {
  /** What node:crypto calls the digest; null where the algorithm has its own (Ed25519, Ed448). */
  readonly digest: string | null;
  /** Of RSASSA-PSS; undefined for all others. */
  readonly saltLength: number | undefined;
}

const RSA_PSS = '1.2.840.113549.1.1.10';
/** RSASSA-PSS-params, defaults (RFC 4055, 3.1). */
const DEFAULT_SALT_LENGTH = 20;
const DEFAULT_PSS_DIGEST = 'sha1';

const DIGESTS: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.2': 'md2',
  '1.2.840.113549.1.1.3': 'md4',
  '1.2.840.113549.1.1.4': 'md5',
  '1.2.840.113549.1.1.5': 'sha1',
  '1.3.14.3.2.29': 'sha1', // sha1WithRSASignature, of old Microsoft tools
  '1.2.840.113549.1.1.14': 'sha224',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10040.4.3': 'sha1', // DSA
  '2.16.840.1.101.3.4.3.2': 'sha256', // DSA
  '1.2.840.10045.4.1': 'sha1', // ECDSA, as all below
  '1.2.840.10045.4.3.1': 'sha224',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
  '1.3.101.113': null,
};

const PSS_DIGESTS: Readonly<Record<string, string>> = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.4': 'sha224',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

/** Reads a whole AlgorithmIdentifier; undefined for an algorithm that is not known here, or is damaged. */
export function readSignatureAlgorithm(der: Uint8Array): SignatureAlgorithm | undefined {
  try {
    const fields = fieldsOf(readDer(der, 'signature algorithm'), 0x30, 'signature algorithm');
    const type = objectIdentifierOf(fields.next(0x06, 'identifier'), 'signature algorithm');
    if (type === RSA_PSS) return readPssParameters(fields.next(0x30, 'parameters'));
    const digest = DIGESTS[type];
    return digest === undefined ? undefined : { digest, saltLength: undefined };
  } catch (thrown) {
    if (thrown instanceof CodesignError) return undefined;
    throw thrown;
  }
}

/** The mask generation's digest is left to OpenSSL, which takes it to be the same: no one uses another. */
function readPssParameters(parameters: Element): SignatureAlgorithm | undefined {
  const what = 'RSASSA-PSS parameters';
  const fields = fieldsOf(parameters, 0x30, what);
  const hash = fields.optional(0xa0);
  fields.optional(0xa1); // mask generation
  const salt = fields.optional(0xa2);
  const digest =
    hash === undefined
      ? DEFAULT_PSS_DIGEST
      : PSS_DIGESTS[objectIdentifierOf(fieldsOf(onlyPart(hash, what), 0x30, what).next(0x06, 'digest'), what)];
  const saltLength = salt === undefined ? DEFAULT_SALT_LENGTH : onlyPart(salt, what).contents.at(-1);
  return digest === undefined || saltLength === undefined ? undefined : { digest, saltLength };
}

/** Digests that anyone can make collisions for: what is signed with them proves nothing. */
export function isBrokenDigest(digest: string | null): boolean {
  return digest === 'md2' || digest === 'md4' || digest === 'md5';
}

/** Whether the key signed `bytes`; false for algorithms that are unknown, broken, or do not go with the key. */
export function isSignedBy(key: KeyObject, algorithm: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean {
  const known = readSignatureAlgorithm(algorithm);
  if (known === undefined || isBrokenDigest(known.digest)) return false;
  const { digest, saltLength } = known;
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
  try {
    return verify(digest, bytes, saltLength === undefined ? key : { key, ...pss }, signature);
  } catch {
    return false; // OpenSSL cannot use the key with this digest
  }
}
