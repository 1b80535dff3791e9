/** The signing certificate with its chain, ready for use: types only. */

import type { KeyObject } from 'node:crypto';

export interface Certificate {
  /** DER. */
  readonly der: Uint8Array;
  /** For people: the subject's common name, or the whole subject where there is none. */
  readonly name: string;
}

export interface SigningChain {
  readonly leaf: Certificate;
  /** The leaf's RSA public key. */
  readonly publicKey: KeyObject;
  /** When the leaf expires. */
  readonly notAfter: Date;
  /** Length of the RSA modulus, and so of a signature, in bytes. */
  readonly signatureLength: number;
  /** Leaf first, then each issuer in turn, the self-signed root included where it was given. */
  readonly certificates: readonly Certificate[];
  /** Whole sentences: a gap in the chain, an expiry that is near. */
  readonly warnings: readonly string[];
}
