/** THE KEY SEAM: keys that are made in an HSM, sign there and never leave it. Types only. */

import type { KeyObject } from 'node:crypto';
import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';

/** The RSA key sizes the server makes, in bits. */
export const RSA_BITS = [2048, 3072, 4096] as const;
export type RsaBits = (typeof RSA_BITS)[number];

export interface SigningKey {
  /** What the store finds the key by; lower-case hexadecimal. */
  readonly id: string;
  /** The public half, read from the HSM. */
  readonly publicKey: KeyObject;
  /**
   * RSASSA-PKCS1-v1_5 over the DigestInfo of `digest` (RFC 8017, 8.2), computed in the HSM.
   * @returns the raw signature, as long as the modulus
   * @throws `hsm-failed`
   */
  sign(algorithm: DigestAlgorithm, digest: Uint8Array): Promise<Uint8Array>;
}

export interface KeyStore {
  /**
   * Makes an RSA key pair in the HSM, its private half sensitive and not extractable.
   * @param label for people who look into the token; need not be unique
   * @throws `hsm-failed`
   */
  generate(label: string, bits: RsaBits): Promise<SigningKey>;
  /** The key with this id, or undefined where the HSM has none. @throws `hsm-failed` */
  find(id: string): Promise<SigningKey | undefined>;
  /**
   * Rejects where the HSM does not answer, or has none of these keys any more.
   * @throws `hsm-failed`, `token-not-found`, `pin-rejected`, `key-not-found`
   */
  check(ids: readonly string[]): Promise<void>;
  /** Uses this PIN for the next login, also if the HSM rejected it before. */
  usePin(pin: string): void;
  /** Waits for signatures under way, then closes sessions and library. */
  close(): Promise<void>;
}
