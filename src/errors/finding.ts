/** A problem or a fact about a file, a signature or a certificate. The examination continues after a finding. */

import type { CodesignError } from './codesign-error.ts';

/**
 * - broken: signed content does not match, or the signature does not cover everything.
 * - unsupported: this program cannot verify the signature.
 * - untrusted: the signer, an authority or a requirement fails.
 * - warning: the signature is valid, but the message is always shown.
 * - note: shown only with --verbose.
 */
export type FindingWeight = 'broken' | 'unsupported' | 'untrusted' | 'warning' | 'note';

export interface Finding {
  readonly code: string;
  /** A complete sentence. The text is not escaped, so it may contain control characters of untrusted names. */
  readonly message: string;
  readonly weight: FindingWeight;
}

const weighing =
  (weight: FindingWeight) =>
  (code: string, message: string): Finding => ({ code, message, weight });

export const broken = weighing('broken');
export const unsupported = weighing('unsupported');
export const untrusted = weighing('untrusted');
export const warning = weighing('warning');
export const note = weighing('note');

export function rejected(error: CodesignError | undefined, code: string, message: string): Finding {
  return (error?.isUnsupported ? unsupported : broken)(code, message);
}

/** Does not change names such as `CheckSum` and `SHA-1`. */
export function asClause({ message }: Pick<Finding, 'message'>): string {
  return message.replace(/^[A-Z](?=[a-z]* )/, (letter) => letter.toLowerCase()).replace(/\.$/, '');
}

/** An intact signature may still be untrusted. */
export type Against = 'integrity' | 'trust' | 'nothing';

const AGAINST: Readonly<Record<FindingWeight, Against>> = {
  broken: 'integrity',
  // A signature that cannot be verified may be broken.
  unsupported: 'integrity',
  untrusted: 'trust',
  warning: 'nothing',
  note: 'nothing',
};

export function againstWhat({ weight }: Finding): Against {
  return AGAINST[weight];
}

export function isAgainst(finding: Finding, what: 'integrity' | 'trust'): boolean {
  return againstWhat(finding) === what;
}

/** False for a signature that this program cannot verify. */
export function isBroken({ weight }: Finding): boolean {
  return weight === 'broken';
}

export function isObjection(finding: Finding): boolean {
  return againstWhat(finding) !== 'nothing';
}

export function hasFindingAgainst(findings: readonly Finding[], what: 'integrity' | 'trust'): boolean {
  return findings.some((finding) => isAgainst(finding, what));
}
