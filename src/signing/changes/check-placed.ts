import { isSameBytes } from '../../bytes/byte-source.ts';
import { asClause, isAgainst } from '../../errors/finding.ts';
import { formatErrors } from '../../format/errors.ts';
import type { ExpectedEnvelope, SignableFile } from '../../format/signable-file.ts';
import { flatten } from '../../format/signature.ts';

/** A weak signature is still one of this file; whether to accept it is for its verifier to decide. */
const WEAK: readonly string[] = ['digest-algorithm-weak', 'key-too-short'];

/**
 * Examines a placed signature, and those nested in it, in the reopened result. Formats place any signature, so this finds
 * the one of another file. Throws `not-its-signature`, and what `verifyResult` throws.
 */
export async function checkPlaced(
  result: Pick<SignableFile, 'signatures' | 'verifyResult'>,
  expected: ExpectedEnvelope,
): Promise<void> {
  const isPlaced = ({ envelope }: { readonly envelope: { readonly bytes: Uint8Array } }): boolean =>
    isSameBytes(envelope.bytes, expected.sealed.bytes);
  for (const signature of flatten((await result.signatures()).filter(isPlaced))) {
    const findings = await signature.examine();
    const problem = findings.find((finding) => isAgainst(finding, 'integrity') && !WEAK.includes(finding.code));
    if (problem !== undefined) throw formatErrors('not-its-signature', { reason: asClause(problem) });
  }
  await result.verifyResult(expected);
}
