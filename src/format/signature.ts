import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { Finding } from '../errors/finding.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';

export interface Envelope {
  /** `cms` is a CMS signature in DER, `xml` an XML Signature element, and `value` only the signature value. */
  readonly kind: 'cms' | 'xml' | 'value';
  readonly bytes: Uint8Array;
}

export const cmsEnvelope = (bytes: Uint8Array): Envelope => ({ kind: 'cms', bytes });

export interface FoundSignature {
  /** A display name such as `certificate table, entry 1` or `META-INF/NAME.RSA`. */
  readonly location: string;
  readonly envelope: Envelope;
  readonly signer: Signer;
  /** Certificates in DER from which certification paths are built. */
  readonly certificates: readonly Uint8Array[];
  /** The weakest digest algorithm. undefined if it cannot be read, or if the API does not support it (MD5). */
  readonly algorithm: DigestAlgorithm | undefined;
  /** A timestamp covers this signature value. undefined if the value cannot be read. */
  readonly value: Uint8Array | undefined;
  /** Bytes whose digest was signed. undefined if the content was signed directly, or if the bytes cannot be read. */
  readonly signedBytes: Uint8Array | undefined;
  readonly contained: readonly ContainedSignature[];
  readonly timestamps: readonly Timestamp[];
  details(): Promise<readonly Detail[]>;
  /** Examines the content, the signed attributes and the signature value, but neither trust nor timestamps. */
  examine(): Promise<readonly Finding[]>;
}

export interface Signer {
  /** Common name of the signer, or the issuer and the serial number if there is no certificate. */
  readonly name: string;
  /** undefined if the signature does not include the certificate. */
  readonly certificate: Uint8Array | undefined;
}

/** A `co-signer` is another signer, or a countersigner. A verifier that reads co-signers must trust each of them. */
export interface ContainedSignature {
  readonly as: 'nested' | 'co-signer';
  readonly signature: FoundSignature;
}

export function containedAs(as: ContainedSignature['as'], { contained }: FoundSignature): readonly FoundSignature[] {
  return contained.flatMap((one) => (one.as === as ? [one.signature] : []));
}

export function withNested(signatures: readonly FoundSignature[]): FoundSignature[] {
  return signatures.flatMap((signature) => [signature, ...withNested(containedAs('nested', signature))]);
}

export interface Detail {
  readonly name: string;
  /** The text is not escaped, so it may contain control characters. */
  readonly value: string;
}
