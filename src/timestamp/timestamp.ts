/** A timestamp on a signature value, as it was read: what it says, and what is wrong with it. Types only. */

import type { Finding } from '../errors/finding.ts';

export interface Timestamp {
  /** `authenticode`: the older countersignature, PKCS#9 attribute 1.2.840.113549.1.9.6. */
  readonly kind: 'rfc3161' | 'authenticode';
  /** The token, a ContentInfo without what follows it, or the SignerInfo. */
  readonly bytes: Uint8Array;
  /** genTime or signingTime; undefined when it cannot be read. */
  readonly time: Date | undefined;
  /** Of the digest that binds it to the signature value, as node:crypto calls it; undefined when unknown to it. */
  readonly algorithm: string | undefined;
  /** Dotted; undefined for the older kind. */
  readonly policy: string | undefined;
  /** The token's own, in hexadecimal; undefined for the older kind. */
  readonly serialNumber: string | undefined;
  /** DER. */
  readonly signerCertificate: Uint8Array | undefined;
  /** For people. Raw: may hold control characters. */
  readonly signerName: string;
  /** All that it carries, DER; for the older kind those of the signature round it. */
  readonly certificates: readonly Uint8Array[];
  /** What is wrong with it apart from trust; none speaks against the integrity of a sound one. */
  readonly findings: readonly Finding[];
}
