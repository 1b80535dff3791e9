import { constants, publicDecrypt } from 'node:crypto';
import type { SigningChain } from '../../certificates/signing-chain.ts';
import { digestInfo } from '../../cms/build-signed-data.ts';
import { fingerprintOf } from '../../crypto/fingerprint.ts';
import type { CodesignError } from '../../errors/codesign-error.ts';
import { plural } from '../../errors/plural.ts';
import type { SigningUnit } from '../../format/signable-file.ts';
import type { SignatureRecord } from '../../service/signing-service.ts';
import { signingErrors } from '../errors.ts';

export function leafDigest({ leaf }: SigningChain): string {
  return fingerprintOf(leaf.der);
}

export type KeyMatch = ReturnType<typeof matchKey>;

export function matchKey(chain: SigningChain, code: string) {
  const { publicKey, signatureLength } = chain;
  const leaf = leafDigest(chain);
  /** The digest for which a signature has been verified. */
  const verified = new WeakMap<Uint8Array, Uint8Array>();
  const expected = { code, certificate: chain.leaf.name, fingerprint: leaf };
  return {
    leaf,
    verifies({ digest, algorithm }: Pick<SigningUnit, 'digest' | 'algorithm'>, signature: Uint8Array): boolean {
      if (verified.get(signature) === digest) return true;
      if (signature.length !== signatureLength) return false;
      const key = { key: publicKey, padding: constants.RSA_PKCS1_PADDING };
      try {
        const isRight = publicDecrypt(key, signature).equals(digestInfo(algorithm, digest));
        if (isRight) verified.set(signature, digest);
        return isRight;
      } catch {
        return false; // The padding is wrong.
      }
    },
    /** `call` is the id in the journal. */
    newMismatch({ id, signature: { length } }: SignatureRecord, call: string): CodesignError {
      const lengths = `: it has ${plural(length, 'byte')}, and this key makes ${signatureLength}`;
      const why = length === signatureLength ? '' : lengths;
      return signingErrors('signature-mismatch', { ...expected, ids: call, isKnown: false, why }, { record: id });
    },
    knownMismatch: (calls: readonly string[]): CodesignError =>
      signingErrors('signature-mismatch', { ...expected, ids: calls.join(' '), isKnown: true, why: '' }),
  };
}
