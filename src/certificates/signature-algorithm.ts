/** Algorithms of certificates, CRLs and OCSP responses (RFC 3279, 4055, 5758, 8410). */

import { constants, type KeyObject, verify } from 'node:crypto';
import {
  DIGEST_NAME_BY_OID,
  digestOfSignature,
  MGF1,
  RSA_PSS,
  SHA512_224,
  SHA512_256,
} from '../asn1/algorithm-identifiers.ts';
import { algorithmOf, type Element, expectTag, fieldsOf, objectIdentifierOf, onlyPart, readDer } from '../asn1/read.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import { type ParsedCertificate, publicKeyOf } from './certificate.ts';

export interface SignatureAlgorithm {
  /** Name in node:crypto; null if the algorithm includes its digest (Ed25519, Ed448). */
  readonly digest: string | null;
  readonly saltLength: number | undefined;
}

/** Defaults of RFC 4055, section 3.1. */
const DEFAULT_SALT_LENGTH = 20;
const DEFAULT_PSS_DIGEST = 'sha1';

const PSS_DIGESTS: Readonly<Record<string, string>> = {
  ...DIGEST_NAME_BY_OID,
  [SHA512_224]: 'sha512-224',
  [SHA512_256]: 'sha512-256',
};

export function readSignatureAlgorithm(der: Uint8Array): SignatureAlgorithm | undefined {
  return orUndefined(() => {
    const fields = fieldsOf(readDer(der, 'signature algorithm'), 0x30, 'signature algorithm');
    const type = objectIdentifierOf(fields.next(0x06, 'identifier'), 'signature algorithm');
    if (type === RSA_PSS) return readPssParameters(fields.next(0x30, 'parameters'));
    const digest = digestOfSignature(type);
    return digest === undefined ? undefined : { digest, saltLength: undefined };
  });
}

/** Accepts MGF1 with the same digest, and trailer field 1 (RFC 4055, section 3.1). */
function readPssParameters(parameters: Element): SignatureAlgorithm | undefined {
  const what = 'RSASSA-PSS parameters';
  const fields = fieldsOf(parameters, 0x30, what);
  const hash = fields.optional(0xa0);
  const maskGeneration = fields.optional(0xa1);
  const salt = fields.optional(0xa2);
  const trailer = fields.optional(0xa3);
  fields.end();
  const digest = hash === undefined ? DEFAULT_PSS_DIGEST : digestOf(onlyPart(hash, what));
  const maskDigest = maskGeneration === undefined ? DEFAULT_PSS_DIGEST : maskDigestOf(onlyPart(maskGeneration, what));
  const saltLength = salt === undefined ? DEFAULT_SALT_LENGTH : smallNumberOf(onlyPart(salt, what));
  const hasUsualTrailer = trailer === undefined || smallNumberOf(onlyPart(trailer, what)) === 1;
  if (digest === undefined || maskDigest !== digest || saltLength === undefined || !hasUsualTrailer) return undefined;
  return { digest, saltLength };
}

function digestOf(algorithm: Element): string | undefined {
  const what = 'RSASSA-PSS parameters, digest';
  const fields = fieldsOf(algorithm, 0x30, what);
  const digest = PSS_DIGESTS[objectIdentifierOf(fields.next(0x06, 'identifier'), what)];
  fields.optional(0x05);
  fields.end();
  return digest === 'md5' ? undefined : digest;
}

function maskDigestOf(algorithm: Element): string | undefined {
  const what = 'RSASSA-PSS parameters, mask generation';
  const fields = fieldsOf(algorithm, 0x30, what);
  const type = objectIdentifierOf(fields.next(0x06, 'identifier'), what);
  const digest = digestOf(fields.next(0x30, 'digest'));
  fields.end();
  return type === MGF1 ? digest : undefined;
}

/** Two octets are enough: an RSA modulus is shorter than 2 KiB. */
function smallNumberOf(element: Element): number | undefined {
  const { contents } = expectTag(element, 0x02, 'RSASSA-PSS parameters');
  const [first = 0x80, second] = contents;
  if (first >= 0x80 || contents.length > 2) return undefined;
  return second === undefined ? first : first * 256 + second;
}

export function describeSignatureAlgorithm(der: Uint8Array): string {
  const type = orUndefined(() => algorithmOf(readDer(der, 'signature algorithm'), 'signature algorithm'));
  if (type === undefined) return 'a damaged identifier';
  return type === RSA_PSS ? 'RSASSA-PSS with unsupported parameters' : type;
}

/** Collisions of these digests can be computed, so a signature over such a digest proves nothing. */
export function isBrokenDigest(digest: string | null): boolean {
  return digest === 'md2' || digest === 'md4' || digest === 'md5';
}

export interface Signed {
  readonly signedBytes: Uint8Array;
  readonly signatureAlgorithm: Uint8Array;
  readonly signature: Uint8Array;
}

/** Returns false for unknown or broken algorithms, and for algorithms that do not match the key. */
export function isSignedBy(signer: ParsedCertificate, { signedBytes, signatureAlgorithm, signature }: Signed): boolean {
  const key = publicKeyOf(signer);
  const known = readSignatureAlgorithm(signatureAlgorithm);
  if (key === undefined || known === undefined || isBrokenDigest(known.digest)) return false;
  return signatureVerifies(key, known, signedBytes, signature);
}

/** Returns false if OpenSSL cannot use the key with this digest. */
export function signatureVerifies(
  key: KeyObject,
  { digest, saltLength }: SignatureAlgorithm,
  signedBytes: Uint8Array,
  signature: Uint8Array,
): boolean {
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
  try {
    return verify(digest, signedBytes, saltLength === undefined ? key : { key, ...pss }, signature);
  } catch {
    return false;
  }
}
