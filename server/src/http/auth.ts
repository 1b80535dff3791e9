/** HTTP Basic authentication (API 5, RFC 7617): every header that is missing, malformed or wrong is one and the same refusal. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ipAddressBytes } from '../certificates/x509.ts';
import type { Viewer } from '../records/rows.ts';
import { operationOf } from './answers.ts';

const COLON = 0x3a;
/** The secret of an unknown access key is compared with this digest, so that the check takes as long as for a known key. */
const NO_DIGEST = Buffer.alloc(32);

/** Why a login failed, for the log. The answer to the caller only says that it failed. */
type LoginFailure = 'no-credentials' | 'malformed' | 'unknown-key' | 'wrong-secret' | 'disabled' | 'expired';

type Login<Known> =
  | { readonly failure: undefined; readonly holder: Known }
  /** `holder`: whose access key the caller gave, where there is such a holder. */
  | { readonly failure: LoginFailure; readonly holder: Known | undefined };

/**
 * Lets requests with good credentials pass.
 * @param kind the field of the log that names the holder
 * @param reject answers other requests
 */
export function requireLogin<Known extends Viewer & { readonly disabled?: boolean }>({
  holders,
  kind,
  now,
  holdBack,
  reject,
}: {
  readonly holders: { findByAccessKey(accessKey: string): Promise<Known | undefined> };
  readonly kind: 'client' | 'viewer';
  readonly now: () => Date;
  readonly holdBack: HoldBack;
  readonly reject: (reply: FastifyReply) => FastifyReply;
}) {
  const loggedIn = new WeakMap<FastifyRequest, Known>();
  return {
    async onRequest(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
      const login = await authenticate(request.raw, holders, now());
      const { holder } = login;
      if (holder !== undefined) {
        request.describe({ accessKey: holder.accessKey, [kind]: holder.name || holder.accessKey });
      }
      if (login.failure === undefined) {
        loggedIn.set(request, login.holder);
        return undefined;
      }
      await holdBack(request, login.failure);
      return reject(reply);
    },
    holderOf(request: FastifyRequest): Known {
      const holder = loggedIn.get(request);
      if (holder === undefined) throw new TypeError('a request that was not authenticated reached its handler');
      return holder;
    },
  };
}

/** The holder of the credentials that the request carries; none where they are not good, or no longer. */
async function authenticate<Known extends Viewer & { readonly disabled?: boolean }>(
  request: IncomingMessage,
  holders: { findByAccessKey(accessKey: string): Promise<Known | undefined> },
  now: Date,
): Promise<Login<Known>> {
  const refused = (failure: LoginFailure, known?: Known): Login<Known> => ({ failure, holder: known });
  const headers = authorizationHeaders(request.rawHeaders);
  if (headers.length === 0) return refused('no-credentials');
  const credentials = readCredentials(headers);
  if (credentials === undefined) return refused('malformed');
  const holder = await holders.findByAccessKey(credentials.accessKey);
  const matches = timingSafeEqual(digestOfSecret(credentials.accessSecret), holder?.secretDigest ?? NO_DIGEST);
  if (holder === undefined) return refused('unknown-key');
  if (!matches) return refused('wrong-secret', holder);
  const failure = whyRejected(holder, now);
  return failure === undefined ? { failure, holder } : refused(failure, holder);
}

/** Why good credentials are rejected now; undefined: they are accepted. */
export function whyRejected(
  { disabled, expiresAt }: Pick<Viewer, 'expiresAt'> & { readonly disabled?: boolean },
  now: Date,
): 'disabled' | 'expired' | undefined {
  if (disabled) return 'disabled';
  return expiresAt !== undefined && now >= expiresAt ? 'expired' : undefined;
}

/** What the server keeps of an access secret. It has 256 random bits, so that a plain digest cannot be turned back. */
export function digestOfSecret(secret: Uint8Array): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Every Authorization header: Node's parsed headers would show the first one only. @param raw alternating names and values */
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

/** Strict Base64 (RFC 4648, section 4): canonical and padded. @returns undefined for any other text */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  // Node skips unknown characters; only the canonical text results from its own bytes.
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** Failed logins are slowed down by address: from the hundredth in this time on, one answer a second. Milliseconds. */
const WINDOW = 60_000;
/** A mistyped secret in a build with many files is not an attack. */
const UNHINDERED = 99;
const STEP = 1000;
/** No answer is held back longer: open connections cost memory, too. */
const LONGEST = 10_000;
/** Addresses to remember; beyond that the oldest are forgotten. */
const ADDRESSES = 10_000;

/** Notes a failed login. @param now any steady clock @returns how long its answer is to be held back */
export type DelayFailedLogin = (address: string, now: number) => number;

interface Failures {
  readonly since: number;
  readonly count: number;
  /** When the last of the answers that are held back goes out. */
  readonly busyUntil: number;
}

export function createFailedLogins(): DelayFailedLogin {
  const failures = new Map<string, Failures>();
  return (address, now) => {
    const key = neighbourhood(address);
    const known = failures.get(key);
    const before = known !== undefined && now - known.since < WINDOW ? known : { since: now, count: 0, busyUntil: now };
    const count = before.count + 1;
    const delayed = count > UNHINDERED;
    const busyUntil = delayed ? Math.min(Math.max(before.busyUntil, now) + STEP, now + LONGEST) : before.busyUntil;
    failures.delete(key); // so that the order of the map is that of the latest failure
    failures.set(key, { since: before.since, count, busyUntil });
    const [oldest] = failures.keys();
    if (failures.size > ADDRESSES && oldest !== undefined) failures.delete(oldest);
    return delayed ? busyUntil - now : 0;
  };
}

/** Leaves a line about a request without good credentials, and resolves when it may be answered. */
export type HoldBack = (request: FastifyRequest, failure: LoginFailure) => Promise<void>;

/** @param ending no answer is held back any longer once it is aborted */
export function createHoldBack(ending: AbortSignal): HoldBack {
  const delayOf = createFailedLogins();
  return async (request, failure) => {
    const delay = delayOf(request.ip, performance.now());
    const slowed = delay > 0 ? { delay: Math.round(delay) } : {};
    request.log.warn({
      operation: operationOf(request),
      outcome: 'refused',
      reason: 'unauthorized',
      failure,
      ...slowed,
    });
    if (delay > 0) await sleep(delay, undefined, { signal: ending }).catch(() => {});
  };
}

/** An IPv4 address; of an IPv6 one the half that says whose network it is, since its owner has all the others. */
function neighbourhood(address: string): string {
  const unmapped = address.replace(/^::ffff:(?=[\d.]+$)/i, '');
  const bytes = ipAddressBytes(unmapped);
  return bytes?.length === 16 ? Buffer.from(bytes.subarray(0, 8)).toString('hex') : unmapped;
}
