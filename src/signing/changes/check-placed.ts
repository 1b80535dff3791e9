import { isSameBytes } from '../../bytes/byte-source.ts';
import { asClause, isAgainst } from '../../errors/finding.ts';
import { formatErrors } from '../../format/errors.ts';
import { type Format, signingOf } from '../../format/format.ts';
import type { Expected, SignableFile } from '../../format/signable-file.ts';
import { withNested } from '../../format/signature.ts';

/** Even a weak signature belongs to this file; the verifier decides whether to accept it. */
const WEAK: readonly string[] = ['digest-algorithm-weak', 'key-too-short'];

/** Formats can embed any signature, so only this check detects a signature that was made for another file. */
export async function checkPlaced(
  result: Pick<SignableFile, 'signatures' | 'signing'>,
  format: Pick<Format, 'title'>,
  expected: Expected,
): Promise<void> {
  const isPlaced = ({ envelope }: { readonly envelope: { readonly bytes: Uint8Array } }): boolean =>
    expected.added.some(({ bytes }) => isSameBytes(envelope.bytes, bytes));
  for (const signature of withNested((await result.signatures()).filter(isPlaced))) {
    const findings = await signature.examine();
    const problem = findings.find((finding) => isAgainst(finding, 'integrity') && !WEAK.includes(finding.code));
    if (problem !== undefined) throw formatErrors('not-its-signature', { reason: asClause(problem) });
  }
  await signingOf(result, format).verify(expected);
}
