import { DIGEST_LENGTH, type DigestAlgorithm } from '../crypto/algorithms.ts';
import type { Finding } from '../errors/finding.ts';
import { flatten } from '../formats/format.ts';
import type { VerifiedSignature } from './verdict.ts';

export interface VerifyPolicy {
  readonly requireTimestamp: boolean;
  /** Common name, or SHA-256 of the certificate in lower-case hexadecimal. */
  readonly signer: { readonly commonName: string } | { readonly sha256: string } | undefined;
  readonly leastAlgorithm: DigestAlgorithm | undefined;
}

/**
 * One signature must have all that is asked; then the others may lack it, as the older of two algorithms does. Gives what
 * the signature that comes nearest lacks; all findings speak against trust.
 */
export function examinePolicy(signatures: readonly VerifiedSignature[], policy: VerifyPolicy): readonly Finding[] {
  const all = flatten(signatures);
  const lacking = all.map((signature) => lacks(signature, policy));
  return lacking.sort((a, b) => a.length - b.length)[0] ?? [];
}

function lacks(signature: VerifiedSignature, { requireTimestamp, signer, leastAlgorithm }: VerifyPolicy): Finding[] {
  const findings: Finding[] = [];
  if (signer !== undefined && !isBy(signature, signer)) {
    const wanted = 'sha256' in signer ? `the certificate with SHA-256 ${signer.sha256}` : `"${signer.commonName}"`;
    findings.push(notAccepted('signer-differs', `The signer is "${signature.signer.name}", not ${wanted}.`));
  }
  if (requireTimestamp && signature.time === undefined) {
    findings.push(notAccepted('timestamp-required', 'The signature has no good timestamp, and one is required.'));
  }
  const { algorithm } = signature;
  if (leastAlgorithm !== undefined && !isAtLeast(algorithm, leastAlgorithm)) {
    const message = `The signature's algorithm is ${algorithm ?? 'not known'}, and at least ${leastAlgorithm} is required.`;
    findings.push(notAccepted('algorithm-too-weak', message));
  }
  return findings;
}

function isBy({ signer }: VerifiedSignature, wanted: NonNullable<VerifyPolicy['signer']>): boolean {
  if ('sha256' in wanted) return signer.sha256 === wanted.sha256;
  // Without a certificate the name is only what the signature says of itself.
  return signer.sha256 !== undefined && signer.name === wanted.commonName;
}

function isAtLeast(algorithm: DigestAlgorithm | undefined, least: DigestAlgorithm): boolean {
  return algorithm !== undefined && DIGEST_LENGTH[algorithm] >= DIGEST_LENGTH[least];
}

function notAccepted(code: string, message: string): Finding {
  return { code, message, against: 'trust' };
}
