/** Building an Authenticode signature: what is to be signed first, then the CMS round the signature value. */

import { createHash } from 'node:crypto';
import { readElement } from '../asn1/read.ts';
import type { SigningChain } from '../certificates/signing-chain.ts';
import { buildSignedAttributes, buildSignedData, certificatesWithoutRoot } from '../cms/build-signed-data.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import {
  SPC_INDIRECT_DATA,
  SPC_RFC3161_TIMESTAMP,
  SPC_SP_OPUS_INFO,
  SPC_STATEMENT_TYPE,
} from './object-identifiers.ts';
import { checkProgramInfo, type ProgramInfo } from './program-info.ts';
import { type SpcContent, spcIndirectData, spcSpOpusInfo, spcStatementType } from './spc-structures.ts';

export interface AuthenticodeRequest extends ProgramInfo {
  /** What was digested: for a PE, SPC_PE_IMAGE_DATA and `spcPeImageData()`. */
  readonly content: SpcContent;
  /** The digest of the file's content by `algorithm`. */
  readonly contentDigest: Uint8Array;
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
  const { algorithm, chain } = request;
  const { description, url } = checkProgramInfo(request);
  const indirectData = spcIndirectData(request.content, algorithm, request.contentDigest);
  // Unlike CMS, Authenticode has the SEQUENCE itself for content: its digest leaves out tag and length.
  const digested = readElement(indirectData, 'SpcIndirectDataContent').contents;
  const messageDigest = createHash(NODE_DIGEST_NAME[algorithm]).update(digested).digest();
  const toBeSigned = buildSignedAttributes(SPC_INDIRECT_DATA, messageDigest, [
    { type: SPC_STATEMENT_TYPE, value: spcStatementType() },
    { type: SPC_SP_OPUS_INFO, value: spcSpOpusInfo(description, url) },
  ]);
  const certificates = certificatesWithoutRoot(chain);
  return {
    toBeSigned,
    seal: (signature, timestampToken) =>
      buildSignedData({
        algorithm,
        content: { type: SPC_INDIRECT_DATA, value: indirectData },
        certificates,
        signerCertificate: chain.leaf.der,
        signedAttributes: toBeSigned,
        signature,
        unsignedAttributes:
          timestampToken === undefined ? [] : [{ type: SPC_RFC3161_TIMESTAMP, value: timestampToken }],
      }),
  };
}
