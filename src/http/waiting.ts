/** How long to wait before a request is repeated: backing off, with jitter, or as long as the other side asks for. */

import { setTimeout as delay } from 'node:timers/promises';

/** Time passing and chance, for tests to hold still. */
export interface Waiting {
  /** Rejects when the signal aborts. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
  /** 0 ≤ random < 1. */
  readonly random: () => number;
}

export const REAL_WAITING: Waiting = {
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, signal === undefined ? {} : { signal }),
  random: Math.random,
};

const FIRST_WAIT = 500;
const LONGEST_BACK_OFF = 8_000;
/** A wait that the other side asks for is honoured up to here. */
export const LONGEST_WAIT = 60_000;
/** Spreads the calls that were all told to come back at the same moment. */
const SPREAD = 250;

export interface AttemptsSoFar {
  /** At least 1. */
  readonly attempts: number;
  /** Milliseconds, from Retry-After. */
  readonly retryAfter?: number | undefined;
  /** 0 ≤ random < 1. */
  readonly random: number;
}

/** Milliseconds to wait before the next attempt. */
export function waitAfter({ attempts, retryAfter, random }: AttemptsSoFar): number {
  if (retryAfter !== undefined) return Math.min(retryAfter + random * SPREAD, LONGEST_WAIT);
  const backOff = Math.min(FIRST_WAIT * 2 ** (attempts - 1), LONGEST_BACK_OFF);
  return backOff * (0.5 + random / 2);
}
