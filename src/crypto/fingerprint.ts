import { hash } from 'node:crypto';

/** SHA-256 in hexadecimal: what identifies certificates and the like. */
export function fingerprintOf(data: Uint8Array | string): string {
  return hash('sha256', data, 'hex');
}
