/** Timestamp requests that are built by hand, and what openssl reads in the replies. */

import { nullValue, objectIdentifier, octetString, sequence, smallInteger } from '../../../src/asn1/write.ts';
import { openssl } from '../../../test/support/programs/openssl.ts';
import type { TestApp } from './in-process.ts';

export const SHA1_IMPRINT = imprint('1.3.14.3.2.26', 20);
export const SHA256_IMPRINT = imprint('2.16.840.1.101.3.4.2.1', 32);

/** A good request, with more fields behind its imprint. */
export function query(...fields: readonly Uint8Array[]): Buffer {
  return Buffer.from(sequence(smallInteger(1), SHA256_IMPRINT, ...fields));
}

/** One call of the authority. */
export async function ask(
  { app }: TestApp,
  payload: Buffer | undefined,
  type = 'application/timestamp-query',
  method: 'POST' | 'GET' = 'POST',
) {
  const headers = { 'content-type': type };
  const response = await app.inject({ method, url: '/tsa', ...(payload && { headers, payload }) });
  return { status: response.statusCode, headers: response.headers, body: response.rawPayload };
}

/** What openssl reads in a reply. */
export function textOf(reply: Uint8Array): string {
  return openssl(['ts', '-reply', '-in', 'reply', '-text'], { reply }).toString();
}

function imprint(oid: string, length: number): Uint8Array {
  return sequence(sequence(objectIdentifier(oid), nullValue()), octetString(Buffer.alloc(length, 7)));
}
