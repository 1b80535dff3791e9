/** A signature in a file, whatever its envelope. */

import type { SignedData } from '../cms/parse-signed-data.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { Finding } from '../errors/finding.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';

/** A finished signature as stored in files: a CMS in DER, or an XML signature. */
export interface Envelope {
  readonly kind: 'cms' | 'xml';
  readonly bytes: Uint8Array;
}

export const cmsEnvelope = (bytes: Uint8Array): Envelope => ({ kind: 'cms', bytes });

export interface FoundSignature {
  /** Display name: `certificate table, entry 1`, `META-INF/NAME.RSA`, `nested in …`. */
  readonly location: string;
  /** As stored in the file, without the bytes after it. */
  readonly envelope: Envelope;
  readonly signedData: SignedData | undefined;
  /** DER; undefined if the signature does not include it. */
  readonly signerCertificate: Uint8Array | undefined;
  /** Display name: common name of the signer, or issuer and serial number without a certificate. */
  readonly signerName: string;
  /** Weakest digest algorithm; undefined if the API lacks one of them (such as MD5), or it cannot be read. */
  readonly algorithm: DigestAlgorithm | undefined;
  readonly nested: readonly FoundSignature[];
  /** Other signers of the CMS, or countersigners. Verifiers that read them must trust each. */
  readonly coSigners?: readonly FoundSignature[];
  /** Timestamps of the signature value in order. Usually none or one. */
  readonly timestamps: readonly Timestamp[];
  /** Returns details that depend on the format: description, web page, digest of the content and whether it matches. */
  details(): Promise<readonly Detail[]>;
  /** Examines content, signed attributes and signature value. Does not check trust or timestamps. */
  examine(): Promise<readonly Finding[]>;
}

/** Includes nested signatures, each after the one that contains it. */
export function flatten<Signature extends { readonly nested: readonly Signature[] }>(
  signatures: readonly Signature[],
): Signature[] {
  return signatures.flatMap((signature) => [signature, ...flatten(signature.nested)]);
}

/** A line for people, and a JSON member for programs. */
export interface Detail {
  /** In lower-case words: `content digest`. */
  readonly name: string;
  /** Not escaped: may contain control characters. */
  readonly value: string;
}
