import type { ParsedCertificate } from '../certificates/certificate.ts';
import { DIGEST_LENGTH, type DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import { type Finding, untrusted } from '../errors/finding.ts';

/**
 * - trusted: every signature is intact and trusted, and meets the policy.
 * - intact: every signature is intact and meets the policy, but trust was not checked.
 * - not-accepted: the file does not meet the policy (a signer, a timestamp or an algorithm), but is otherwise valid.
 * - untrusted: every signature is intact, but a signer or an authority is not trusted.
 * - unsupported: the file contains a signature that this program cannot verify.
 * - broken: a signature does not match the file.
 * - unsigned: the file contains no signature.
 */
export type Verdict = 'trusted' | 'intact' | 'not-accepted' | 'untrusted' | 'unsupported' | 'broken' | 'unsigned';

export type Integrity = 'intact' | 'unsupported' | 'broken';
type TrustState = 'trusted' | 'untrusted' | 'not-checked';

export interface VerifiedFile {
  /** The path as the user typed it. */
  readonly path: string;
  readonly format: string | null;
  /** null if the file could not be examined; `error` then contains the reason. */
  readonly verdict: Verdict | null;
  readonly error: CodesignError | undefined;
  /** Path of the security catalog whose signature was verified instead of a signature in the file. */
  readonly catalog?: string;
  readonly findings: readonly Finding[];
  readonly signatures: readonly VerifiedSignature[];
}

export interface VerifiedSignature {
  readonly place: string;
  readonly integrity: Integrity;
  readonly trust: TrustState;
  readonly signer: Identity;
  /**
   * The weakest digest algorithm. undefined if an algorithm is unreadable, or if the service API does not support it.
   */
  readonly algorithm: DigestAlgorithm | undefined;
  /** Time from a valid timestamp, which proves that the signature existed at that time. */
  readonly time: Date | undefined;
  readonly timestamps: readonly VerifiedTimestamp[];
  readonly findings: readonly Finding[];
  /** The other signers of the same CMS signature, and the signatures nested in it. */
  readonly nested: readonly VerifiedSignature[];
  /** True for another signer in the same CMS signature, false for a nested signature. */
  readonly isCoSigner?: boolean;
}

export interface VerifiedTimestamp {
  readonly kind: 'rfc3161' | 'authenticode';
  readonly time: Date | undefined;
  readonly integrity: Integrity;
  readonly trust: TrustState;
  readonly signer: Identity;
  readonly findings: readonly Finding[];
}

export interface Identity {
  /** Display name that is not escaped, so the name may contain control characters. */
  readonly name: string;
  /** SHA-256 of the certificate as hex digits, if the signature contains the certificate. */
  readonly sha256: string | undefined;
  /** Certification path, leaf first. The path may be incomplete, and is empty if trust was not checked. */
  readonly path: readonly PathCertificate[];
  readonly root: PathCertificate | undefined;
}

export type PathCertificate = Pick<ParsedCertificate, 'der' | 'name' | 'issuerName' | 'notBefore' | 'notAfter'>;

export interface VerifyPolicy {
  readonly requireTimestamp: boolean;
  /** The required signer: a common name, or the SHA-256 of the certificate as lower-case hex digits. */
  readonly signer: { readonly commonName: string } | { readonly sha256: string } | undefined;
  readonly leastAlgorithm: DigestAlgorithm | undefined;
}

export function isGoodVerdict(verdict: Verdict | null): boolean {
  return verdict === 'trusted' || verdict === 'intact';
}

export function integrityBy(findings: readonly Finding[]): Integrity {
  return worstOf(findings.map(({ weight }) => (weight === 'broken' || weight === 'unsupported' ? weight : 'intact')));
}

export function worstOf(all: readonly Integrity[]): Integrity {
  return all.find((one) => one === 'broken') ?? all.find((one) => one === 'unsupported') ?? 'intact';
}

/** Includes nested signatures and other signers, each after the signature that contains it. */
export function flatten(signatures: readonly VerifiedSignature[]): VerifiedSignature[] {
  return signatures.flatMap((signature) => [signature, ...flatten(signature.nested)]);
}

/**
 * Returns the policy requirements that the best signature does not meet. Other signatures, such as one with an older
 * algorithm, do not need to meet them. Each finding denies trust.
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
    findings.push(untrusted('signer-differs', `The signer is "${signature.signer.name}", not ${wanted}.`));
  }
  if (requireTimestamp && signature.time === undefined) {
    findings.push(untrusted('timestamp-required', 'The signature has no valid timestamp, but one is required.'));
  }
  const { algorithm } = signature;
  const length = algorithm === undefined ? 0 : DIGEST_LENGTH[algorithm];
  if (leastAlgorithm !== undefined && length < DIGEST_LENGTH[leastAlgorithm]) {
    const message = `The signature's algorithm is ${algorithm ?? 'unknown'}, but at least ${leastAlgorithm} is required.`;
    findings.push(untrusted('algorithm-too-weak', message));
  }
  return findings;
}

function isBy({ signer }: VerifiedSignature, wanted: NonNullable<VerifyPolicy['signer']>): boolean {
  if ('sha256' in wanted) return signer.sha256 === wanted.sha256;
  // Without a certificate, the name is only a claim of the signature.
  return signer.sha256 !== undefined && signer.name === wanted.commonName;
}
