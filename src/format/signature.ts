import type { SignedData } from '../cms/parse-signed-data.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { Finding } from '../errors/finding.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';

/** A finished signature as it is stored in files: a CMS in DER, or an XML signature. */
export interface Envelope {
  readonly kind: 'cms' | 'xml';
  readonly bytes: Uint8Array;
}

export const cmsEnvelope = (bytes: Uint8Array): Envelope => ({ kind: 'cms', bytes });

export interface FoundSignature {
  /** Display name: `certificate table, entry 1`, `META-INF/NAME.RSA`, `nested in …`. */
  readonly location: string;
  /** Envelope as stored in the file, without the bytes after it. */
  readonly envelope: Envelope;
  readonly signedData: SignedData | undefined;
  /** Certificate in DER. undefined if the signature does not include it. */
  readonly signerCertificate: Uint8Array | undefined;
  /** Display name: common name of the signer. Without a certificate: issuer and serial number. */
  readonly signerName: string;
  /** Weakest digest algorithm. undefined if an algorithm is unreadable or unknown to the API (such as MD5). */
  readonly algorithm: DigestAlgorithm | undefined;
  readonly nested: readonly FoundSignature[];
  /** Other signers of the CMS, or countersigners. Verifiers that read these must trust each of them. */
  readonly coSigners?: readonly FoundSignature[];
  /** Timestamps of the signature value, in order. Most signatures have none or one. */
  readonly timestamps: readonly Timestamp[];
  /** Returns details that depend on the format, such as the description, the web page and the digest of the content. */
  details(): Promise<readonly Detail[]>;
  /** Examines content, signed attributes and signature value. Does not check trust or timestamps. */
  examine(): Promise<readonly Finding[]>;
}

export function flatten<Signature extends { readonly nested: readonly Signature[] }>(
  signatures: readonly Signature[],
): Signature[] {
  return signatures.flatMap((signature) => [signature, ...flatten(signature.nested)]);
}

export interface Detail {
  /** Name in lower-case words: `content digest`. */
  readonly name: string;
  /** Not escaped: may contain control characters. */
  readonly value: string;
}
