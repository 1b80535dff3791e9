import { createHash, privateEncrypt } from 'node:crypto';
import { SPC_PE_IMAGE_DATA } from '../../../src/asn1/object-identifiers.ts';
import { prepareAuthenticode } from '../../../src/authenticode/profile.ts';
import { spcContent } from '../../../src/authenticode/spc-structures.ts';
import { digestInfo } from '../../../src/cms/build-signed-data.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../../src/crypto/algorithms.ts';
import { spcPeImageData } from '../../../src/formats/pe/image-data.ts';
import type { IssuedCertificate } from './pki.ts';
import { signingContext } from './signing-context.ts';
import { chainOf } from './throwaway-signer.ts';

interface AuthenticodeOptions {
  readonly algorithm?: DigestAlgorithm;
  readonly timestampToken?: Uint8Array;
}

/** Signs a PE whose content is the text `content` with the key of the first certificate. */
export async function signAuthenticode(
  certificates: readonly [IssuedCertificate, ...IssuedCertificate[]],
  { algorithm = 'SHA256', timestampToken }: AuthenticodeOptions = {},
): Promise<Uint8Array> {
  const contentDigest = createHash(NODE_DIGEST_NAME[algorithm]).update('content').digest();
  const content = spcContent({ type: SPC_PE_IMAGE_DATA, value: spcPeImageData() }, algorithm, contentDigest);
  const context = signingContext({ algorithm, chain: await chainOf(...certificates) });
  const { digest, seal } = prepareAuthenticode(context, content);
  return seal(privateEncrypt(certificates[0].privateKey, digestInfo(algorithm, digest)), timestampToken).bytes;
}
