import type { ParsedCertificate } from '../certificates/parsed-certificate.ts';
import { DIGEST_LENGTH, type DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import { type Finding, untrusted } from '../errors/finding.ts';
import { flatten } from '../formats/format.ts';

/**
 * trusted: every signature is intact and trusted, and what was asked of them holds. intact: the same, where trust was not
 * asked about. not-accepted: only what was asked (a signer, a timestamp, an algorithm) does not hold. untrusted: intact, but
 * a signer or an authority is not trusted. unsupported: there is a signature that this program cannot verify. broken: file and
 * signature do not belong together. unsigned: no signature.
 */
export type Verdict = 'trusted' | 'intact' | 'not-accepted' | 'untrusted' | 'unsupported' | 'broken' | 'unsigned';

export type Integrity = 'intact' | 'unsupported' | 'broken';
type TrustState = 'trusted' | 'untrusted' | 'not-checked';

export interface VerifiedFile {
  /** As the user gave it. */
  readonly path: string;
  /** Id of the format; null when none was recognised. */
  readonly format: string | null;
  /** Null when the file could not be looked at: then `error` says why. */
  readonly verdict: Verdict | null;
  readonly error: CodesignError | undefined;
  /** Path of the security catalog whose signature counts for the file; undefined where that of the file itself does. */
  readonly catalog?: string;
  /** Of the file as a whole; those of its signatures are with them. */
  readonly findings: readonly Finding[];
  /** The outer signatures, each with those nested in it. */
  readonly signatures: readonly VerifiedSignature[];
}

export interface VerifiedSignature {
  /** Where it stands, for people. */
  readonly place: string;
  readonly integrity: Integrity;
  readonly trust: TrustState;
  readonly signer: Identity;
  /** The weakest digest that it rests on; undefined if the API does not have one of them, or it cannot be read. */
  readonly algorithm: DigestAlgorithm | undefined;
  /** When the signature is known to have existed: the time of a good timestamp. Undefined without one. */
  readonly time: Date | undefined;
  readonly timestamps: readonly VerifiedTimestamp[];
  readonly findings: readonly Finding[];
  /** Other signers of the same CMS, and signatures that are nested in it. */
  readonly nested: readonly VerifiedSignature[];
  /** Whether it is another signer of the CMS of the signature that holds it, and not nested in it. */
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
  /** For people. Raw: may hold control characters. */
  readonly name: string;
  /** Of the certificate, in hexadecimal; undefined without one. */
  readonly sha256: string | undefined;
  /** Leaf first, as far as it goes; empty where trust was not asked about. */
  readonly path: readonly PathCertificate[];
  /** The path's end, if it is trusted or self-signed. */
  readonly root: PathCertificate | undefined;
}

export type PathCertificate = Pick<ParsedCertificate, 'der' | 'name' | 'issuerName' | 'notBefore' | 'notAfter'>;

export interface VerifyPolicy {
  readonly requireTimestamp: boolean;
  /** Common name, or SHA-256 of the certificate in lower-case hexadecimal. */
  readonly signer: { readonly commonName: string } | { readonly sha256: string } | undefined;
  readonly leastAlgorithm: DigestAlgorithm | undefined;
}

/** The worst that these findings say of the integrity. */
export function integrityBy(findings: readonly Finding[]): Integrity {
  return worstOf(findings.map(({ weight }) => (weight === 'broken' || weight === 'unsupported' ? weight : 'intact')));
}

export function worstOf(all: readonly Integrity[]): Integrity {
  return all.find((one) => one === 'broken') ?? all.find((one) => one === 'unsupported') ?? 'intact';
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
    findings.push(untrusted('signer-differs', `The signer is "${signature.signer.name}", not ${wanted}.`));
  }
  if (requireTimestamp && signature.time === undefined) {
    findings.push(untrusted('timestamp-required', 'The signature has no good timestamp, and one is required.'));
  }
  const { algorithm } = signature;
  if (leastAlgorithm !== undefined && !isAtLeast(algorithm, leastAlgorithm)) {
    const message = `The signature's algorithm is ${algorithm ?? 'not known'}, and at least ${leastAlgorithm} is required.`;
    findings.push(untrusted('algorithm-too-weak', message));
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
