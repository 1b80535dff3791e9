/** Whether a signer's attributes and signature value agree with the content (RFC 5652, 5.4 and 5.6). Says nothing of trust. */

import { constants, createHash, verify, X509Certificate } from 'node:crypto';
import { objectIdentifierOf, octetsOf } from '../asn1/read.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import { CONTENT_TYPE, DIGEST_NAME_BY_OID, MESSAGE_DIGEST, RSA_PSS } from './object-identifiers.ts';
import { attributeValues, type SignedData, type SignerInfo } from './parse-signed-data.ts';

export interface SignerRules {
  /** Whether the content itself may be what is signed (RFC 5652, 5.4), as jarsigner does. Authenticode does not allow it. */
  readonly withoutAttributes?: boolean;
}

/**
 * True when contentType and messageDigest are there once and right, and the signature value verifies under the key of the
 * certificate carried. Those whose attributes are damaged do not verify.
 * `contentBytes`: what messageDigest is over (of an attached content, its contents without tag and length).
 */
export function signerVerifies(
  signedData: SignedData,
  signer: SignerInfo,
  contentBytes: Uint8Array,
  { withoutAttributes = false }: SignerRules = {},
): boolean {
  const digestName = DIGEST_NAME_BY_OID[signer.digestAlgorithm];
  if (digestName === undefined || signer.certificate === undefined) return false;
  if (signer.signedBytes === undefined) {
    return withoutAttributes && signatureMatches(signer, contentBytes, signer.certificate, digestName);
  }
  return (
    attributesMatch(signedData, signer, createHash(digestName).update(contentBytes).digest()) &&
    signatureMatches(signer, signer.signedBytes, signer.certificate, digestName)
  );
}

function attributesMatch(signedData: SignedData, signer: SignerInfo, digest: Uint8Array): boolean {
  const [type, ...moreTypes] = attributeValues(signer.signedAttributes, CONTENT_TYPE);
  const [messageDigest, ...moreDigests] = attributeValues(signer.signedAttributes, MESSAGE_DIGEST);
  if (type === undefined || messageDigest === undefined || moreTypes.length + moreDigests.length > 0) return false;
  try {
    return (
      objectIdentifierOf(type, 'contentType') === signedData.contentType &&
      Buffer.compare(octetsOf(messageDigest, 'messageDigest'), digest) === 0
    );
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return false; // not the kinds of values that these attributes have
  }
}

function signatureMatches(
  signer: SignerInfo,
  signedBytes: Uint8Array,
  certificate: Uint8Array,
  digestName: string,
): boolean {
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  try {
    const key = new X509Certificate(certificate).publicKey;
    return verify(
      digestName,
      signedBytes,
      signer.signatureAlgorithm === RSA_PSS ? { key, ...pss } : key,
      signer.signature,
    );
  } catch {
    return false; // OpenSSL does not know the certificate's kind of key, or cannot use it with this digest
  }
}
