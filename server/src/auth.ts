/** HTTP Basic authentication (API 5, RFC 7617): every header that is missing, malformed or wrong is one and the same refusal. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { decodeBase64 } from './base64.ts';

const COLON = 0x3a;
/** What an unknown access key is compared with, so that it takes as long as a known one. */
const NOBODY = Buffer.alloc(32);

/** Whoever has credentials: a client, or a viewer of the page. */
interface Holder {
  readonly secretDigest: Uint8Array;
  readonly expiresAt: Date | undefined;
  readonly disabled?: boolean;
}

/** The holder of the credentials that the request carries, or undefined: also where they are right, but no longer good. */
export async function authenticate<Known extends Holder>(
  request: IncomingMessage,
  holders: { findByAccessKey(accessKey: string): Promise<Known | undefined> },
  now: Date,
): Promise<Known | undefined> {
  const credentials = readCredentials(authorizationHeaders(request.rawHeaders));
  if (credentials === undefined) return undefined;
  const holder = await holders.findByAccessKey(credentials.accessKey);
  const matches = timingSafeEqual(digestOfSecret(credentials.accessSecret), holder?.secretDigest ?? NOBODY);
  if (!matches || holder === undefined || holder.disabled) return undefined;
  return holder.expiresAt === undefined || now < holder.expiresAt ? holder : undefined;
}

/** What the server keeps of an access secret. It has 256 random bits, so that a plain digest cannot be turned back. */
export function digestOfSecret(secret: Uint8Array): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Every Authorization header: Node's parsed headers would show the first one only. @param raw names and values by turns */
function authorizationHeaders(raw: readonly string[]): readonly string[] {
  return raw.filter((_value, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === 'authorization');
}

function readCredentials(
  headers: readonly string[],
): { readonly accessKey: string; readonly accessSecret: Uint8Array } | undefined {
  const [header, ...others] = headers;
  const encoded = /^Basic +(\S+) *$/i.exec(header ?? '')?.[1];
  if (encoded === undefined || others.length > 0) return undefined;
  const pair = decodeBase64(encoded);
  const colon = pair?.indexOf(COLON) ?? -1;
  if (pair === undefined || colon < 1) return undefined;
  return { accessKey: pair.toString('utf8', 0, colon), accessSecret: pair.subarray(colon + 1) };
}
