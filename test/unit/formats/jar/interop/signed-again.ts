/** Signed JARs whose signature file was changed and signed again: signatures as other programs make them. */

import { createHash } from 'node:crypto';
import { DATA } from '../../../../../src/asn1/object-identifiers.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../../../../src/crypto/algorithms.ts';
import { prepareCms } from '../../../../../src/format/cms.ts';
import { JAR_PROFILE } from '../../../../../src/formats/jar/signature/new-signature.ts';
import { signingContext } from '../../../../support/signed-files/signing-context.ts';
import type { ThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { contentsOf, repack } from '../simple-zip.ts';

/** `base`: of the signature's two files. */
export function signAgain(
  jar: Buffer,
  signer: ThrowawaySigner,
  base: string,
  change: (signatureFile: string) => string,
  algorithm: DigestAlgorithm = 'SHA256',
): Buffer {
  const [file, block] = [`META-INF/${base}.SF`, `META-INF/${base}.RSA`];
  const signatureFile = Buffer.from(change(contentsOf(jar, file).toString()));
  const { digest, seal } = prepareCms(JAR_PROFILE, signingContext({ algorithm, chain: signer.chain }), {
    type: DATA,
    messageDigest: createHash(NODE_DIGEST_NAME[algorithm]).update(signatureFile).digest(),
  });
  return repack(jar, { [file]: signatureFile, [block]: seal(signer.signDigest(digest, algorithm)).bytes });
}

/** Without the digest of the whole manifest: then every section of it counts. */
export function withoutWholeDigest(signatureFile: string): string {
  const shorter = signatureFile.replace(/^SHA-?\d+-Digest-Manifest: .*\r\n( .*\r\n)*/m, '');
  if (shorter === signatureFile) throw new Error('there is no digest of the whole manifest');
  return shorter;
}
