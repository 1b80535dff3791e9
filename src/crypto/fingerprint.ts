import { hash } from 'node:crypto';

export function fingerprintOf(data: Uint8Array | string): string {
  return hash('sha256', data, 'hex');
}
