/** Slows failed logins down, address by address: from the hundredth in a minute on, one answer a second. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { ipAddressBytes } from '../certificates/ip-address.ts';
import type { LoginFailure } from './auth.ts';
import { operationOf } from './http-errors.ts';

/** Milliseconds, as everything here. */
const WINDOW = 60_000;
/** A mistyped secret in a build with many files is no attack. */
const UNHINDERED = 99;
const STEP = 1000;
/** No answer is held back longer: whoever holds connections open costs memory, too. */
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

/** @param ending when it is aborted, nobody is held back any longer */
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
