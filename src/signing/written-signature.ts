/** A signature that a file has from a run that was ended before it could record that. */

import { isDeepStrictEqual } from 'node:util';
import { type EmbeddedSignature, flatten, type SigningContext } from '../formats/format.ts';
import { isIntact } from './existing-signatures.ts';
import { type Account, digestToBeSigned, leafDigest } from './service/signatures.ts';

export interface WrittenSignature {
  readonly signature: EmbeddedSignature;
  readonly toBeSigned: Uint8Array;
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
      if (await isIntact(signature)) return { signature, toBeSigned };
    }
    return undefined;
  };
}
