/** HTTP Basic authentication (API 5, RFC 7617): every header that is missing, malformed or wrong is one and the same refusal. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { decodeBase64 } from './base64.ts';

const COLON = 0x3a;
/** What an unknown access key is compared with, so that it takes as long as a known one. */
const NOBODY = Buffer.alloc(32);

/** Whoever has credentials: a client, or a viewer of the page. */
interface Holder {
  readonly accessKey: string;
  readonly name: string | undefined;
  readonly secretDigest: Uint8Array;
  readonly expiresAt: Date | undefined;
  readonly disabled?: boolean;
}

/** Why a login failed, for the log. The answer to the caller only says that it failed. */
export type LoginFailure = 'no-credentials' | 'malformed' | 'unknown-key' | 'wrong-secret' | 'disabled' | 'expired';

export type Login<Known> =
  | { readonly holder: Known }
  | {
      readonly holder: undefined;
      readonly failure: LoginFailure;
      /** Whose access key the caller gave, where there is such a holder. */
      readonly known: Known | undefined;
    };

/** The holder of the credentials that the request carries; none where they are not good, or no longer. */
export async function authenticate<Known extends Holder>(
  request: IncomingMessage,
  holders: { findByAccessKey(accessKey: string): Promise<Known | undefined> },
  now: Date,
): Promise<Login<Known>> {
  const refused = (failure: LoginFailure, known?: Known): Login<Known> => ({ holder: undefined, failure, known });
  const headers = authorizationHeaders(request.rawHeaders);
  if (headers.length === 0) return refused('no-credentials');
  const credentials = readCredentials(headers);
  if (credentials === undefined) return refused('malformed');
  const holder = await holders.findByAccessKey(credentials.accessKey);
  const matches = timingSafeEqual(digestOfSecret(credentials.accessSecret), holder?.secretDigest ?? NOBODY);
  if (holder === undefined) return refused('unknown-key');
  if (!matches) return refused('wrong-secret', holder);
  if (holder.disabled) return refused('disabled', holder);
  if (holder.expiresAt !== undefined && now >= holder.expiresAt) return refused('expired', holder);
  return { holder };
}

/** What people call a holder. */
export function nameOfHolder({ name, accessKey }: Holder): string {
  return name || accessKey;
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
