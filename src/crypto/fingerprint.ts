import { hash } from 'node:crypto';

/** Returns the SHA-256 digest in hexadecimal, which identifies certificates, for example. */
export function fingerprintOf(data: Uint8Array | string): string {
  return hash('sha256', data, 'hex');
}
