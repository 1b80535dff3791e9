/** Ids of signature records: UUIDs of version 7, whose order is that of time, so that a database's indexes grow at one end. */

import { randomUUID } from 'node:crypto';

/**
 * RFC 9562, section 5.7: milliseconds since 1970 in 48 bits, then the version, and what a random UUID has after its own.
 * Nobody guesses one who knows another: 74 bits are random.
 */
export function newRecordId(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Whether a text has the form of such an id: what else a caller sends in its place may be a secret. */
export function isRecordId(text: string): boolean {
  return /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(text);
}
