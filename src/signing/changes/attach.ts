/** Putting a finished signature into a file. */

import { parseSignedData, signerNameOf } from '../../cms/parse-signed-data.ts';
import type { LocalChange } from '../change-files.ts';
import { signerNames } from '../existing-signatures.ts';

/** `cms`: DER, or BER. Throws `cms-malformed` and the like for what is no signature at all. */
export function attachSignature(cms: Uint8Array): LocalChange {
  const signer = signerNameOf(parseSignedData(cms).signers[0]);
  return {
    decide: async () => undefined,
    async prepare(opened) {
      const before = await opened.signatures();
      const embedding = await opened.attach({ kind: 'cms', bytes: cms });
      const goes = before.filter(
        (old) => !embedding.standing.some((stays) => Buffer.compare(stays.bytes, old.envelope.bytes) === 0),
      );
      return {
        patch: embedding.patch,
        check: (result) => result.verifyResult(embedding),
        done: { status: 'attached', signer, replaced: signerNames(goes) },
      };
    },
  };
}
