import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { Finding } from '../errors/finding.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';

/** A finished signature as it is stored in files. */
export interface Envelope {
  /** An envelope is a CMS in DER, the Signature element of an XML document, or only the signature value. */
  readonly kind: 'cms' | 'xml' | 'value';
  readonly bytes: Uint8Array;
}

export const cmsEnvelope = (bytes: Uint8Array): Envelope => ({ kind: 'cms', bytes });

export interface FoundSignature {
  /** Display name: `certificate table, entry 1`, `META-INF/NAME.RSA`, `nested in …`. */
  readonly location: string;
  readonly envelope: Envelope;
  readonly signer: Signer;
  /** DER of all certificates in the signature. Certification paths are built from these certificates. */
  readonly certificates: readonly Uint8Array[];
  /** Weakest digest algorithm. undefined if an algorithm is unreadable or unknown to the API (such as MD5). */
  readonly algorithm: DigestAlgorithm | undefined;
  /** Signature value, which a timestamp covers. undefined if the signature is unreadable. */
  readonly value: Uint8Array | undefined;
  /** Bytes whose digest was signed. undefined if the signature covers the content itself, or is unreadable. */
  readonly signedBytes: Uint8Array | undefined;
  readonly contained: readonly ContainedSignature[];
  /** Timestamps of the signature value, in order. Most signatures have none or one. */
  readonly timestamps: readonly Timestamp[];
  /** Returns details that depend on the format, such as the description, the web page and the digest of the content. */
  details(): Promise<readonly Detail[]>;
  /** Examines content, signed attributes and signature value. Does not check trust or timestamps. */
  examine(): Promise<readonly Finding[]>;
}

export interface Signer {
  /** Display name: common name of the signer. If there is no certificate, issuer and serial number. */
  readonly name: string;
  /** Certificate in DER. undefined if the signature does not include it. */
  readonly certificate: Uint8Array | undefined;
}

/** `co-signer`: another signer of the envelope, or a countersigner. Verifiers that read them must trust each. */
export interface ContainedSignature {
  readonly as: 'nested' | 'co-signer';
  readonly signature: FoundSignature;
}

export function containedAs(as: ContainedSignature['as'], { contained }: FoundSignature): readonly FoundSignature[] {
  return contained.flatMap((one) => (one.as === as ? [one.signature] : []));
}

/** Includes nested signatures, each after the one that contains it. */
export function withNested(signatures: readonly FoundSignature[]): FoundSignature[] {
  return signatures.flatMap((signature) => [signature, ...withNested(containedAs('nested', signature))]);
}

export interface Detail {
  readonly name: string;
  /** Not escaped: may contain control characters. */
  readonly value: string;
}
