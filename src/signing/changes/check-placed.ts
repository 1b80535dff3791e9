import { isSameBytes } from '../../bytes/byte-source.ts';
import { asClause, isAgainst } from '../../errors/finding.ts';
import { formatErrors } from '../../format/errors.ts';
import type { ExpectedEnvelope, SignableFile } from '../../format/signable-file.ts';
import { flatten } from '../../format/signature.ts';

/** A weak signature still belongs to this file. Its verifier decides whether to accept it. */
const WEAK: readonly string[] = ['digest-algorithm-weak', 'key-too-short'];

/**
 * Examines a placed signature and its nested signatures in the reopened result. Formats embed any signature, so this
 * check detects a signature of another file. Throws `not-its-signature`, and the errors of `verifyResult`.
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
