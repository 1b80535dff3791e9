/** Makes Authenticode signatures with keys at hand, as the service would with its own. */

import { createHash, privateEncrypt } from 'node:crypto';
import { SPC_PE_IMAGE_DATA } from '../../../src/asn1/object-identifiers.ts';
import { prepareAuthenticode } from '../../../src/authenticode/profile.ts';
import { type SpcData, spcContent } from '../../../src/authenticode/spc-structures.ts';
import { readSigningChain, type SigningChain } from '../../../src/certificates/signing-chain.ts';
import { digestInfo } from '../../../src/cms/build-signed-data.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../../src/crypto/algorithms.ts';
import { spcPeImageData } from '../../../src/formats/pe/image-data.ts';
import type { IssuedCertificate } from './pki.ts';
import { signingContext } from './signing-context.ts';

export interface AuthenticodeRequest {
  readonly content: SpcData;
  readonly algorithm: DigestAlgorithm;
  readonly chain: SigningChain;
  readonly description?: string;
  readonly url?: string;
}

/** The chain of certificates valid in 2026, leaf first or in any other order. */
export function chainOf(...certificates: readonly IssuedCertificate[]): Promise<SigningChain> {
  return readSigningChain(
    certificates.map(({ der }, index) => ({ name: `certificate ${index}`, bytes: der })),
    { now: new Date('2026-01-01'), purposes: [] },
  );
}

/** A request for the digest of a PE's content, which here is the text `content`. */
export function requestFor(
  chain: SigningChain,
  more: Partial<AuthenticodeRequest> & { readonly text?: string; readonly contentDigest?: Uint8Array } = {},
): AuthenticodeRequest {
  const algorithm: DigestAlgorithm = more.algorithm ?? 'SHA256';
  const digest = createHash(NODE_DIGEST_NAME[algorithm]).update(more.text ?? 'content');
  const data = { type: SPC_PE_IMAGE_DATA, value: spcPeImageData() };
  return { content: spcContent(data, algorithm, more.contentDigest ?? digest.digest()), algorithm, chain, ...more };
}

export function prepareRequest({ content, algorithm, chain, description, url }: AuthenticodeRequest) {
  return prepareAuthenticode(signingContext({ algorithm, chain }, { description, url }), content);
}

/** The finished CMS, signed with the key of `leaf`. */
export function signAuthenticode(
  request: AuthenticodeRequest,
  leaf: IssuedCertificate,
  timestampToken?: Uint8Array,
): Uint8Array {
  const { algorithm, digest, seal } = prepareRequest(request);
  return seal(privateEncrypt(leaf.privateKey, digestInfo(algorithm, digest)), timestampToken).bytes;
}
