/** Building the signature block, NAME.RSA: a CMS whose content is the signature file, which it does not hold. */

import { createHash } from 'node:crypto';
import type { SigningChain } from '../../certificates/signing-chain.ts';
import { buildSignedAttributes, buildSignedData } from '../../cms/build-signed-data.ts';
import { DATA, TIMESTAMP_TOKEN } from '../../cms/object-identifiers.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import { cmsEnvelope, type Envelope } from '../format.ts';

export interface PreparedBlock {
  /** The signed attributes as a SET: what the service signs the digest of. */
  readonly toBeSigned: Uint8Array;
  /** The CMS, DER, with the RSA signature value and, where there is one, the RFC 3161 token (a ContentInfo, DER). */
  seal(signature: Uint8Array, timestampToken?: Uint8Array): Envelope;
}

/**
 * Signed attributes: contentType and messageDigest. No signingTime: the same archive gives the same bytes. The whole chain
 * goes in, its root too where it was given: jarsigner looks for one of its certificates in the user's store.
 */
export function prepareBlock(
  signatureFile: Uint8Array,
  algorithm: DigestAlgorithm,
  chain: SigningChain,
): PreparedBlock {
  const messageDigest = createHash(NODE_DIGEST_NAME[algorithm]).update(signatureFile).digest();
  const toBeSigned = buildSignedAttributes(DATA, messageDigest);
  const certificates = chain.certificates.map(({ der }) => der);
  return {
    toBeSigned,
    seal: (signature, timestampToken) =>
      cmsEnvelope(
        buildSignedData({
          algorithm,
          content: { type: DATA },
          certificates,
          signerCertificate: chain.leaf.der,
          signedAttributes: toBeSigned,
          signature,
          unsignedAttributes: timestampToken === undefined ? [] : [{ type: TIMESTAMP_TOKEN, value: timestampToken }],
        }),
      ),
  };
}
