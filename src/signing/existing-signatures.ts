import { isDeepStrictEqual } from 'node:util';
import { speaksAgainst } from '../errors/finding.ts';
import { type EmbeddedSignature, flatten, type SignableFile, type SigningContext } from '../formats/format.ts';
import type { WrittenSignature } from './planned-file.ts';
import { type Account, digestToBeSigned, leafDigest } from './service/signatures.ts';

/** Also those that signed together with them, or countersigned. Each once: a second signature with another algorithm is usually by the same one. */
export function signerNames(signatures: readonly EmbeddedSignature[]): string[] {
  const signers = flatten(signatures).flatMap((signature) => [signature, ...(signature.coSigners ?? [])]);
  return [...new Set(signers.map(({ signerName }) => signerName))];
}

/** Whether one of them is intact, and by this certificate if one is given. A signature in a file that `verify` rejects as a whole is not intact either. */
export async function hasIntactBy(
  opened: SignableFile,
  signatures: readonly EmbeddedSignature[],
  leaf: Uint8Array | undefined,
): Promise<boolean> {
  for (const signature of flatten(signatures)) {
    const { signerCertificate } = signature;
    if (leaf !== undefined && (signerCertificate === undefined || Buffer.compare(signerCertificate, leaf) !== 0))
      continue;
    if (await isIntact(signature)) return !speaksAgainst(await opened.examine(), 'integrity');
  }
  return false;
}

export async function isIntact(signature: EmbeddedSignature): Promise<boolean> {
  return !speaksAgainst(await signature.examine(), 'integrity');
}

export type FindWritten = (
  signatures: readonly EmbeddedSignature[],
  context: SigningContext,
) => Promise<WrittenSignature | undefined>;

/**
 * Finds an intact signature of this certificate, with a timestamp if one is wanted, that the journal knows: a run with the
 * same options requested it. What was to be signed then can no longer be prepared if the signature changed it.
 */
export function findWrittenWith({ claims, origin, code }: Pick<Account, 'claims' | 'origin' | 'code'>): FindWritten {
  return async (signatures, { algorithm, chain, timestampAlgorithm, formatOptions }) => {
    for (const signature of flatten(signatures)) {
      const { signedData, signerCertificate = new Uint8Array() } = signature;
      const toBeSigned = signedData?.signers[0].signedBytes;
      if (toBeSigned === undefined || Buffer.compare(signerCertificate, chain.leaf.der) !== 0) continue;
      if (timestampAlgorithm !== undefined && signature.timestamps.length === 0) continue;
      const digest = digestToBeSigned({ toBeSigned, algorithm }).toString('hex');
      const known = await claims.knownFor({ origin, code, algorithm, digest }, leafDigest(chain));
      if (!known.some((options) => isDeepStrictEqual({ ...options.formatOptions }, { ...formatOptions }))) continue;
      if (await isIntact(signature)) return { signature, toBeSigned, algorithm };
    }
    return undefined;
  };
}
