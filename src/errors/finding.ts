/** Findings are what an examination says of a file, a signature or a certificate. An error would end the examination. */

import type { CodesignError } from './codesign-error.ts';

/**
 * broken: signed content does not match, or something is hidden from the signature. unsupported: a signature that this program
 * cannot verify. untrusted: the signer, an authority or a requirement. warning: good, and always shown. note: for --verbose.
 */
export type FindingWeight = 'broken' | 'unsupported' | 'untrusted' | 'warning' | 'note';

export interface Finding {
  /** Stable kebab-case word that scripts may match. */
  readonly code: string;
  /** A whole sentence. Raw: names from outside may hold control characters; escape them where they are shown. */
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

/** The finding for what a reader rejected with an error. */
export function rejected(error: CodesignError | undefined, code: string, message: string): Finding {
  return (error?.isUnsupported ? unsupported : broken)(code, message);
}

/** The message of a finding as a clause, to be put after a colon. */
export function asClause({ message }: Pick<Finding, 'message'>): string {
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`.replace(/\.$/, '');
}

/** A finding speaks against integrity or against trust: an intact signature may be untrusted. */
export type Against = 'integrity' | 'trust' | 'nothing';

const AGAINST: Readonly<Record<FindingWeight, Against>> = {
  broken: 'integrity',
  // Not known to be intact.
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

/** Changed or forged, in contrast to one that this program cannot verify. */
export function isBroken({ weight }: Finding): boolean {
  return weight === 'broken';
}

/** Against integrity or trust. */
export function isObjection(finding: Finding): boolean {
  return againstWhat(finding) !== 'nothing';
}

/** True if a finding speaks against what is asked about. */
export function speaksAgainst(findings: readonly Finding[], what: 'integrity' | 'trust'): boolean {
  return findings.some((finding) => isAgainst(finding, what));
}
