import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Client, Viewer } from '../records/rows.ts';
import { operationOf } from './answers.ts';

const COLON = 0x3a;
/** A secret for an unknown access key is compared with this digest, so that the check takes as long as for a known key. */
const NO_DIGEST = Buffer.alloc(32);

/** Reason for a failed login, only for the log: all failed logins get the same response. */
export type LoginFailure = (typeof LOGIN_FAILURES)[number];
export const LOGIN_FAILURES = [
  ...(['no-credentials', 'malformed', 'unknown-key', 'wrong-secret', 'disabled', 'expired'] as const),
];

type Holder = Viewer & Partial<Pick<Client, 'disabled' | 'previous'>>;

export function requireLogin<Known extends Holder>({
  holders,
  kind,
  now,
  countFailure,
  reject,
}: {
  readonly holders: { findByAccessKey(accessKey: string): Promise<Known | undefined> };
  readonly kind: 'client' | 'viewer';
  readonly now: () => Date;
  readonly countFailure: (kind: 'client' | 'viewer', failure: LoginFailure) => void;
  readonly reject: (reply: FastifyReply) => FastifyReply;
}) {
  const loggedIn = new WeakMap<FastifyRequest, Known>();
  return {
    async onRequest(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
      const { holder, failure } = await authenticate(request.raw, holders, now());
      if (failure !== undefined) countFailure(kind, failure);
      if (holder !== undefined) {
        request.describe({ accessKey: holder.accessKey, [kind]: holder.name || holder.accessKey });
        if (failure === undefined) {
          loggedIn.set(request, holder);
          return undefined;
        }
      }
      request.log.warn({ operation: operationOf(request), outcome: 'refused', reason: 'unauthorized', failure });
      return reject(reply);
    },
    holderOf(request: FastifyRequest): Known {
      return loggedIn.get(request) as Known; // `onRequest` has rejected all other requests
    },
  };
}

async function authenticate<Known extends Holder>(
  request: IncomingMessage,
  holders: { findByAccessKey(accessKey: string): Promise<Known | undefined> },
  now: Date,
): Promise<{ readonly failure?: LoginFailure; readonly holder?: Known }> {
  const headers = authorizationHeaders(request.rawHeaders);
  if (headers.length === 0) return { failure: 'no-credentials' };
  const credentials = readCredentials(headers);
  if (credentials === undefined) return { failure: 'malformed' };
  const holder = await holders.findByAccessKey(credentials.accessKey);
  const given = digestOfSecret(credentials.accessSecret);
  const matches = timingSafeEqual(given, holder?.secretDigest ?? NO_DIGEST);
  const matchesOld = timingSafeEqual(given, holder?.previous?.digest ?? NO_DIGEST);
  if (holder === undefined) return { failure: 'unknown-key' };
  const isOldValid = matchesOld && holder.previous !== undefined && now < holder.previous.until;
  const failure = matches || isOldValid ? whyRejected(holder, now) : 'wrong-secret';
  return failure === undefined ? { holder } : { holder, failure };
}

export function whyRejected(
  { disabled, expiresAt }: Pick<Holder, 'disabled' | 'expiresAt'>,
  now: Date,
): 'disabled' | 'expired' | undefined {
  if (disabled) return 'disabled';
  return expiresAt !== undefined && now >= expiresAt ? 'expired' : undefined;
}

/** Returns the stored form of an access secret. A digest needs no salt, because a secret has 256 random bits. */
export function digestOfSecret(secret: Uint8Array): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Node's parsed headers contain only the first Authorization header. @param raw alternating header names and values */
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

/** Decodes Base64 in canonical form, with padding (RFC 4648, section 4). @returns undefined for any other text */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  // Node ignores unknown characters, so only an encoded copy of the result shows whether the text was canonical.
  return bytes.toString('base64') === text ? bytes : undefined;
}
