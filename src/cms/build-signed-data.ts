/** SignedData (RFC 5652, section 5) with one RSA signer. The same input always gives the same bytes. */

import { createHash } from 'node:crypto';
import { DIGEST_OID, RSA_ENCRYPTION } from '../asn1/algorithm-identifiers.ts';
import { CONTENT_TYPE, MESSAGE_DIGEST, SIGNED_DATA, SIGNING_CERTIFICATE_V2 } from '../asn1/object-identifiers.ts';
import {
  contextConstructed,
  encode,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  setOfAll,
  smallInteger,
} from '../asn1/write.ts';
import { type CertificateFields, readCertificateFields } from '../certificates/certificate.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';

export interface Attribute {
  readonly type: string;
  readonly value: Uint8Array;
}

export interface SignedDataParts {
  readonly algorithm: DigestAlgorithm;
  readonly content: { readonly type: string; readonly value?: Uint8Array | undefined };
  readonly certificates: readonly Uint8Array[];
  readonly signer: Pick<CertificateFields, 'issuer' | 'serialNumber'>;
  readonly signedAttributes: Uint8Array;
  readonly signature: Uint8Array;
  readonly unsignedAttributes?: readonly Attribute[] | undefined;
}

/** In this version, the issuer and the serial number identify the signer. */
const VERSION = 1;
const SET_TAG = 0x31;

/** Returns a SET OF, which the digest covers with the tag 0x31. In the SignerInfo, its tag is `[0]`. */
export function buildSignedAttributes(
  contentType: string,
  messageDigest: Uint8Array,
  more: readonly Attribute[] = [],
): Uint8Array {
  const required = [
    { type: CONTENT_TYPE, value: objectIdentifier(contentType) },
    { type: MESSAGE_DIGEST, value: octetString(messageDigest) },
  ];
  return setOfAll([...required, ...more].map(encodeAttribute));
}

export function buildSignedData(parts: SignedDataParts): Uint8Array {
  const { content } = parts;
  const type = objectIdentifier(content.type);
  const signedData = sequence(
    smallInteger(VERSION),
    setOf(digestAlgorithm(parts.algorithm)),
    content.value === undefined ? sequence(type) : sequence(type, contextConstructed(0, content.value)),
    retag(0, setOfAll(parts.certificates)),
    setOf(signerInfo(parts)),
  );
  return sequence(objectIdentifier(SIGNED_DATA), contextConstructed(0, signedData));
}

/** Windows requires the NULL parameters, which RFC 5754 permits. */
export function digestAlgorithm(algorithm: DigestAlgorithm): Uint8Array {
  return sequence(objectIdentifier(DIGEST_OID[algorithm]), nullValue());
}

export function digestInfo(algorithm: DigestAlgorithm, digest: Uint8Array): Uint8Array {
  return sequence(digestAlgorithm(algorithm), octetString(digest));
}

export function encodeAttribute({ type, value }: Attribute): Uint8Array {
  return sequence(objectIdentifier(type), encode(SET_TAG, value));
}

function signerInfo(parts: SignedDataParts): Uint8Array {
  const { signer, unsignedAttributes = [] } = parts;
  return sequence(
    smallInteger(VERSION),
    sequence(signer.issuer, signer.serialNumber),
    digestAlgorithm(parts.algorithm),
    retag(0, parts.signedAttributes),
    sequence(objectIdentifier(RSA_ENCRYPTION), nullValue()),
    octetString(parts.signature),
    ...(unsignedAttributes.length === 0 ? [] : [retag(1, setOfAll(unsignedAttributes.map(encodeAttribute)))]),
  );
}

/** Changes only the identifier octet, as an IMPLICIT tag does. */
function retag(number: number, set: Uint8Array): Uint8Array {
  const tagged = Uint8Array.from(set);
  tagged[0] = 0xa0 | number;
  return tagged;
}

/**
 * Binds the signature to the certificate (RFC 5035, section 3). DER omits SHA-256, the default. NuGet requires
 * issuerSerial, which ETSI EN 319 122-1, 5.2.2.3 omits.
 */
export function signingCertificate(certificate: Uint8Array, { withIssuerSerial = false } = {}): Attribute {
  const digest = octetString(createHash('sha256').update(certificate).digest());
  const { issuer, serialNumber } = readCertificateFields(certificate);
  const issuerSerial = sequence(sequence(contextConstructed(4, issuer)), serialNumber);
  const identifier = withIssuerSerial ? sequence(digest, issuerSerial) : sequence(digest);
  return { type: SIGNING_CERTIFICATE_V2, value: sequence(sequence(identifier)) };
}
