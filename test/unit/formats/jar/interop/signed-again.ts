/** Signed JARs whose signature file was changed and signed again: signatures as other programs make them. */

import { signatureBlock } from '../../../../support/signed-files/hostile-jar.ts';
import type { ThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { contentsOf, repack } from '../simple-zip.ts';

/** `base`: of the signature's two files. */
export function signAgain(
  jar: Buffer,
  signer: ThrowawaySigner,
  base: string,
  change: (signatureFile: string) => string,
): Buffer {
  const [file, block] = [`META-INF/${base}.SF`, `META-INF/${base}.RSA`];
  const signatureFile = change(contentsOf(jar, file).toString());
  return repack(jar, { [file]: signatureFile, [block]: signatureBlock(signatureFile, { signer }) });
}

/** Without the digest of the whole manifest: then every section of it counts. */
export function withoutWholeDigest(signatureFile: string): string {
  const shorter = signatureFile.replace(/^SHA-?\d+-Digest-Manifest: .*\r\n( .*\r\n)*/m, '');
  if (shorter === signatureFile) throw new Error('there is no digest of the whole manifest');
  return shorter;
}
