/** How often a call is repeated, and which. */

import { type AttemptsSoFar, waitAfter } from '../http/waiting.ts';

/** The unreachable service costs at most about 1.5 s of waiting, the throttling one at most what it asks for. */
export const MAX_ATTEMPTS = { unreachable: 3, throttled: 5, unanswered: 3 } as const;

/** Why a call may be repeated; what is not among these is final. */
export type RepeatReason = keyof typeof MAX_ATTEMPTS;

export interface Attempt extends AttemptsSoFar {
  readonly reason: RepeatReason;
}

/** Milliseconds to wait before the next attempt, or undefined when there is to be none. */
export function waitBeforeRepeat(attempt: Attempt): number | undefined {
  return attempt.attempts >= MAX_ATTEMPTS[attempt.reason] ? undefined : waitAfter(attempt);
}
