/** Building CMS SignedData (RFC 5652, section 5) with one RSA signer, in DER: the same input gives the same bytes. */

import { DIGEST_OID, RSA_ENCRYPTION } from '../asn1/algorithm-identifiers.ts';
import { CONTENT_TYPE, MESSAGE_DIGEST, SIGNED_DATA } from '../asn1/object-identifiers.ts';
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
import type { CertificateFields } from '../certificates/certificate-fields.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';

export interface Attribute {
  /** Dotted object identifier. */
  readonly type: string;
  /** The one value, encoded. */
  readonly value: Uint8Array;
}

export interface SignedDataParts {
  readonly algorithm: DigestAlgorithm;
  /** `value`: what goes under the content's `[0]`, encoded; undefined for a detached signature. */
  readonly content: { readonly type: string; readonly value?: Uint8Array | undefined };
  /** DER certificates to carry. */
  readonly certificates: readonly Uint8Array[];
  /** Names the signer's certificate. */
  readonly signer: Pick<CertificateFields, 'issuer' | 'serialNumber'>;
  /** From `buildSignedAttributes`. */
  readonly signedAttributes: Uint8Array;
  /** The raw RSA signature. */
  readonly signature: Uint8Array;
  readonly unsignedAttributes?: readonly Attribute[] | undefined;
}

/** VersionNumber of SignedData and SignerInfo when the signer is named by issuer and serial number. */
const VERSION = 1;
const SET_TAG = 0x31;

/**
 * The SET OF signed attributes: contentType and messageDigest, which every signature has, and the format's own. With this
 * tag (0x31) they are what is digested and signed; in the SignerInfo they stand under `[0]`.
 */
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

/** The ContentInfo round a SignedData. */
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

/** AlgorithmIdentifier of a digest, with the NULL parameters that Windows wants and RFC 5754 lets stand. */
export function digestAlgorithm(algorithm: DigestAlgorithm): Uint8Array {
  return sequence(objectIdentifier(DIGEST_OID[algorithm]), nullValue());
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

/** The same SET under `[number]` (IMPLICIT): only the identifier octet differs. */
function retag(number: number, set: Uint8Array): Uint8Array {
  const tagged = Uint8Array.from(set);
  tagged[0] = 0xa0 | number;
  return tagged;
}
