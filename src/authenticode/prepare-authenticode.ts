/** Building an Authenticode signature: what is to be signed first, then the CMS round the signature value. */

import { createHash } from 'node:crypto';
import { SPC_RFC3161_TIMESTAMP, SPC_SP_OPUS_INFO, SPC_STATEMENT_TYPE } from '../asn1/object-identifiers.ts';
import { readElement } from '../asn1/read.ts';
import type { SigningChain } from '../certificates/signing-chain.ts';
import { buildSignedAttributes, buildSignedData, certificatesWithoutRoot } from '../cms/build-signed-data.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import type { SignedContent } from './container.ts';
import { checkProgramInfo, type ProgramInfo } from './program-info.ts';
import { spcSpOpusInfo, spcStatementType } from './spc-structures.ts';

export interface AuthenticodeRequest extends ProgramInfo {
  readonly content: SignedContent;
  /** Of the content and of the signature alike. */
  readonly algorithm: DigestAlgorithm;
  readonly chain: SigningChain;
}

export interface PreparedAuthenticode {
  /** The signed attributes as a SET: what the service signs the digest of. */
  readonly toBeSigned: Uint8Array;
  /** The CMS, DER, with the RSA signature value and, where there is one, the RFC 3161 token (a ContentInfo, DER). */
  seal(signature: Uint8Array, timestampToken?: Uint8Array): Uint8Array;
}

/** Deterministic: no time, nothing random. Throws `description-invalid`, `url-invalid`. */
export function prepareAuthenticode(request: AuthenticodeRequest): PreparedAuthenticode {
  const { algorithm, chain, content } = request;
  const { description, url } = checkProgramInfo(request);
  // Unlike CMS, Authenticode has the structure itself for content: its digest leaves out tag and length.
  const digested = readElement(content.value, 'content').contents;
  const messageDigest = createHash(NODE_DIGEST_NAME[algorithm]).update(digested).digest();
  const toBeSigned = buildSignedAttributes(content.type, messageDigest, [
    { type: SPC_STATEMENT_TYPE, value: spcStatementType() },
    { type: SPC_SP_OPUS_INFO, value: spcSpOpusInfo(description, url) },
  ]);
  const certificates = certificatesWithoutRoot(chain);
  return {
    toBeSigned,
    seal: (signature, timestampToken) =>
      buildSignedData({
        algorithm,
        content,
        certificates,
        signerCertificate: chain.leaf.der,
        signedAttributes: toBeSigned,
        signature,
        unsignedAttributes:
          timestampToken === undefined ? [] : [{ type: SPC_RFC3161_TIMESTAMP, value: timestampToken }],
      }),
  };
}
