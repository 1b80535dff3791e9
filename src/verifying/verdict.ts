import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { Finding } from '../errors/finding.ts';

/**
 * trusted: every signature is intact and trusted, and what was asked of them holds. intact: the same, where trust was not
 * asked about. not-accepted: only what was asked (a signer, a timestamp, an algorithm) does not hold. untrusted: intact, but
 * a signer or an authority is not trusted. broken: file and signature do not belong together. unsigned: no signature.
 */
export type Verdict = 'trusted' | 'intact' | 'not-accepted' | 'untrusted' | 'broken' | 'unsigned';

export type Integrity = 'intact' | 'broken';
export type TrustState = 'trusted' | 'untrusted' | 'not-checked';

export interface VerifiedFile {
  /** As the user gave it. */
  readonly path: string;
  /** Id of the format; null when none was recognised. */
  readonly format: string | null;
  /** Null when the file could not be looked at: then `error` says why. */
  readonly verdict: Verdict | null;
  readonly error: CodesignError | undefined;
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

export interface PathCertificate {
  readonly der: Uint8Array;
  /** For people: the subject's common name, or the whole subject if it has none. */
  readonly name: string;
  readonly issuerName: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}
