/** How often and after what wait a call is repeated: bounded, backing off, with jitter. */

/** The unreachable service costs at most about 1.5 s of waiting, the throttling one at most what it asks for. */
export const MAX_ATTEMPTS = { unreachable: 3, throttled: 5, unanswered: 3 } as const;

/** Why a call may be repeated; what is not among these is final. */
export type RepeatReason = keyof typeof MAX_ATTEMPTS;

const FIRST_WAIT = 500;
const LONGEST_BACK_OFF = 8_000;
/** A wait that the service asks for is honoured up to here. */
export const LONGEST_WAIT = 60_000;
/** Spreads the calls that were all told to come back at the same moment. */
const SPREAD = 250;

export interface Attempt {
  /** Attempts made so far, at least 1. */
  readonly attempts: number;
  readonly reason: RepeatReason;
  /** Milliseconds, from Retry-After. */
  readonly retryAfter?: number | undefined;
  /** 0 ≤ random < 1. */
  readonly random: number;
}

/** Milliseconds to wait before the next attempt, or undefined when there is to be none. */
export function waitBeforeRepeat({ attempts, reason, retryAfter, random }: Attempt): number | undefined {
  if (attempts >= MAX_ATTEMPTS[reason]) return undefined;
  if (retryAfter !== undefined) return Math.min(retryAfter + random * SPREAD, LONGEST_WAIT);
  const backOff = Math.min(FIRST_WAIT * 2 ** (attempts - 1), LONGEST_BACK_OFF);
  return backOff * (0.5 + random / 2);
}
