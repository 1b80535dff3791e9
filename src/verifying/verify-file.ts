/** Verifying one file: what is in it, whether it holds together, who signed it, and whether they are trusted. */

import { CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { type Finding, speaksAgainst } from '../errors/finding.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import type { Format } from '../formats/format.ts';
import { judgeSignature } from './judge-signature.ts';
import { flatten, judgePolicy, type VerifyPolicy } from './policy.ts';
import { type ReadFile, type Reading, readFile } from './read-file.ts';
import { chargedTo, type JudgeTrust } from './trust.ts';
import type { Verdict, VerifiedFile, VerifiedSignature } from './verdict.ts';

export interface Verifying extends Reading {
  /** Undefined where trust is not asked about. */
  readonly judgeTrust: JudgeTrust | undefined;
  readonly now: Date;
  readonly policy: VerifyPolicy;
}

/** Never throws for what the file holds, nor for what the system says of it: that is in the result. */
export async function verifyFile(path: string, verifying: Verifying): Promise<VerifiedFile> {
  let format: Format | undefined;
  try {
    await using file = await readFile(path, verifying, (found) => {
      format = found;
    });
    return { path, format: file.format.id, error: undefined, ...(await judgeFile(file, verifying)) };
  } catch (thrown) {
    const error = toCodesignError(fromFileSystem(thrown, 'read the file'));
    return { path, format: format?.id ?? null, signatures: [], ...unreadable(error, format) };
  }
}

async function judgeFile(
  { signable, budget }: ReadFile,
  verifying: Verifying,
): Promise<Pick<VerifiedFile, 'verdict' | 'findings' | 'signatures'>> {
  const { judgeTrust, now } = verifying;
  const judging = { judgeTrust: judgeTrust && chargedTo(judgeTrust, budget), now };
  const signatures: VerifiedSignature[] = [];
  for (const signature of await signable.signatures()) signatures.push(await judgeSignature(signature, judging));
  const examined = await signable.examine();
  const verdict = verdictOn(signatures, examined, judgeTrust !== undefined);
  if (verdict !== 'trusted' && verdict !== 'intact') return { verdict, findings: examined, signatures };
  const lacking = judgePolicy(signatures, verifying.policy);
  if (lacking.length === 0) return { verdict, findings: examined, signatures };
  return { verdict: 'not-accepted', findings: [...examined, ...lacking], signatures };
}

/** The worst that is true of the file or of one of its signatures, nested ones too. */
function verdictOn(
  signatures: readonly VerifiedSignature[],
  findings: readonly Finding[],
  isTrustAsked: boolean,
): Verdict {
  const all = flatten(signatures);
  if (all.length === 0) return 'unsigned';
  if (speaksAgainst(findings, 'integrity') || all.some(({ integrity }) => integrity === 'broken')) return 'broken';
  if (!isTrustAsked) return 'intact';
  const isTrusted = !speaksAgainst(findings, 'trust') && all.every(({ trust }) => trust === 'trusted');
  return isTrusted ? 'trusted' : 'untrusted';
}

/** A file of a known format whose structure is refused is broken: what is in it cannot be told for certain. */
function unreadable(
  error: CodesignError,
  format: Format | undefined,
): Pick<VerifiedFile, 'verdict' | 'findings' | 'error'> {
  if (format === undefined || error.category !== 'local' || isAboutReading(error)) {
    return { verdict: null, findings: [], error };
  }
  const finding: Finding = { code: error.code, message: sentence(error.message), against: 'integrity' };
  return { verdict: 'broken', findings: [finding], error: undefined };
}

/** What the system said, whose cause is the system's own error. */
function isAboutReading({ cause }: CodesignError): boolean {
  return cause instanceof Error && !(cause instanceof CodesignError) && 'syscall' in cause;
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
