import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { Finding } from '../errors/finding.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';

/** A finished signature in the form in which files store it. */
export interface Envelope {
  /** An envelope is a CMS in DER, the Signature element of an XML document, or the signature value alone. */
  readonly kind: 'cms' | 'xml' | 'value';
  readonly bytes: Uint8Array;
}

export const cmsEnvelope = (bytes: Uint8Array): Envelope => ({ kind: 'cms', bytes });

export interface FoundSignature {
  /** Display name, for example `certificate table, entry 1`, `META-INF/NAME.RSA` or `nested in …`. */
  readonly location: string;
  readonly envelope: Envelope;
  readonly signer: Signer;
  /** All certificates in the signature, in DER. Certification paths are built from these certificates. */
  readonly certificates: readonly Uint8Array[];
  /**
   * The weakest digest algorithm in the signature. undefined if an algorithm is unreadable or unknown to the API (such
   * as MD5).
   */
  readonly algorithm: DigestAlgorithm | undefined;
  /** The signature value, which a timestamp covers. undefined if the signature is unreadable. */
  readonly value: Uint8Array | undefined;
  /** Bytes whose digest was signed. undefined if the signature covers the content directly, or is unreadable. */
  readonly signedBytes: Uint8Array | undefined;
  readonly contained: readonly ContainedSignature[];
  /**
   * Timestamps of the signature value, in the order in which they are stored. Most signatures have either no timestamp
   * or one.
   */
  readonly timestamps: readonly Timestamp[];
  /** Returns details that depend on the format, such as the description, the web page and the digest of the content. */
  details(): Promise<readonly Detail[]>;
  /**
   * Examines the content, the signed attributes and the signature value. Does not check trust, and does not check
   * timestamps.
   */
  examine(): Promise<readonly Finding[]>;
}

export interface Signer {
  /** Display name: the common name of the signer. If there is no certificate, the issuer and the serial number. */
  readonly name: string;
  /** The signer's certificate in DER. undefined if the signature does not include the certificate. */
  readonly certificate: Uint8Array | undefined;
}

/**
 * `co-signer` means another signer of the envelope, or a countersigner. Verifiers that read such signatures require
 * that each one is trusted.
 */
export interface ContainedSignature {
  readonly as: 'nested' | 'co-signer';
  readonly signature: FoundSignature;
}

export function containedAs(as: ContainedSignature['as'], { contained }: FoundSignature): readonly FoundSignature[] {
  return contained.flatMap((one) => (one.as === as ? [one.signature] : []));
}

/** Nested signatures are included. Each follows the signature that contains it. */
export function withNested(signatures: readonly FoundSignature[]): FoundSignature[] {
  return signatures.flatMap((signature) => [signature, ...withNested(containedAs('nested', signature))]);
}

export interface Detail {
  readonly name: string;
  /** Not escaped: may contain control characters. */
  readonly value: string;
}
