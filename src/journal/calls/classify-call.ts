/** What follows from the state of a call: whether its signature may be used, its report is due, or it is over. */

import type { CallState } from './call-state.ts';
import type { Share } from './shares.ts';
import type { Moment } from './steps.ts';

export function sharesOf({ shares }: CallState): readonly Share[] {
  return [...shares.values()].filter(({ state }) => state !== 'gone');
}

/** There is a signature, and no file waits for it. */
export function isWritten(state: CallState): boolean {
  return state.signed !== undefined && sharesOf(state).every((share) => share.state === 'written');
}

/** The service is to be told 1. A copy's was told by the call that it was copied from. */
export function isReportDue(state: CallState): boolean {
  const { signed, reported } = state;
  if (signed === undefined || signed.copy || signed.record === undefined) return false;
  return isWritten(state) && reported !== 1 && reported !== 'not-wanted' && isReportWanted(state);
}

/** By the user of one of its files, at least. */
function isReportWanted(state: CallState): boolean {
  return sharesOf(state).some(({ facts }) => facts?.manner?.report !== false);
}

/** Nothing is left to do. */
export function isSettled(state: CallState): boolean {
  return isWritten(state) && !isReportDue(state);
}

/** Every call that may have been asked of the service has an entry in the history once it is over. */
export function belongsToHistory({ phase, signed }: CallState): boolean {
  return phase === 'signed' ? signed?.copy === false : phase !== 'claimed' && phase !== 'released' && phase !== 'empty';
}

/** A signature that does not verify under a certificate does not become better for being asked of it again. */
export function isUnusableUnder(state: CallState, leaf: string): boolean {
  return sharesOf(state).some((share) => share.state === 'unusable' && share.facts?.certificate.sha256 === leaf);
}

/** Whether one moment was not after another: by the clock that never goes back where both have the same one. */
export function isUpTo(one: Moment, other: Moment): boolean {
  return one.boot !== undefined && one.boot === other.boot ? one.up <= other.up : one.at <= other.at;
}
