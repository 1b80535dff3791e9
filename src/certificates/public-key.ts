/** The public keys that signatures are checked with: none that is of no known kind, or made to keep whoever checks with it busy. */

import type { KeyObject, X509Certificate } from 'node:crypto';

/** Windows takes none larger; with an exponent as long as the modulus a check takes a hundred times as long. */
const LARGEST_EXPONENT = 2n ** 32n;
/** Of DSA, in bits; FIPS 186-4 ends with 3072, OpenSSL with 10,000, which takes 10 ms. That of RSA OpenSSL bounds well. */
const LARGEST_DSA_MODULUS = 4096;

/** undefined for a kind of key that OpenSSL does not know, and for one that takes absurdly long to check with. */
export function usableKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    const key = certificate.publicKey;
    return isAffordable(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

function isAffordable({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): boolean {
  const { publicExponent = 0n, modulusLength = 0 } = asymmetricKeyDetails;
  return publicExponent < LARGEST_EXPONENT && !(asymmetricKeyType === 'dsa' && modulusLength > LARGEST_DSA_MODULUS);
}
