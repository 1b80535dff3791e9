import type { JournalContext } from '../context.ts';
import type { UnfinishedKind } from '../journal.ts';
import type { Liveness } from '../processes.ts';
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

/** Whether the service should receive report 1. For a copy, the call that it was copied from reports. */
export function isReportDue(state: CallState): boolean {
  const { signed, reported } = state;
  if (signed === undefined || signed.copy || signed.record === undefined) return false;
  return isWritten(state) && reported !== 1 && reported !== 'not-wanted' && isReportWanted(state);
}

/** Whether the user of at least one file wants the report. */
function isReportWanted(state: CallState): boolean {
  return sharesOf(state).some(({ metadata }) => metadata?.signingOptions?.report !== false);
}

/** Nothing is left to do. */
export function isSettled(state: CallState): boolean {
  return isWritten(state) && !isReportDue(state);
}

/** Every call that may have been asked of the service has an entry in the history once it is over. */
export function belongsToHistory({ phase, signed }: CallState): boolean {
  return phase === 'signed' ? signed?.copy === false : phase !== 'claimed' && phase !== 'released' && phase !== 'empty';
}

/** Whether the run of one of its files had not come to a good end when this run looked. */
export function isOfUnendedRun({ shares }: CallState, { unended }: Pick<JournalContext, 'unended'>): boolean {
  return [...shares.values()].some(({ holder }) => holder !== undefined && unended.has(holder.run));
}

/** Whether one moment was not after another: by the clock that never goes back where both have the same one. */
export function isUpTo(one: Moment, other: Moment): boolean {
  return one.boot !== undefined && one.boot === other.boot ? one.up <= other.up : one.at <= other.at;
}

export interface Closing {
  /** `aside`: the call is not over, but another call needs its location. */
  readonly aim: 'end' | 'aside';
  /** The user gave the signature up. */
  readonly givenUp: boolean;
}

/** `busy`: a process works on it and will add steps. `stays`: there is a signature, or the outcome is unknown. */
export type NextAction = 'busy' | 'stays' | Closing;

export const END: Closing = { aim: 'end', givenUp: false };
export const ASIDE: Closing = { aim: 'aside', givenUp: false };

/** `watched`: as in LastSign. */
export async function nextActionOf(
  state: CallState,
  aside: boolean,
  liveness: Liveness,
  watched = 0,
): Promise<NextAction> {
  const { id, closing, phase, holder, lastAt } = state;
  if (id === undefined) return 'stays';
  const last = { at: lastAt, watched };
  if (closing !== undefined) {
    return (await liveness.isHeld(closing.holder, closing.by, last)) ? 'busy' : closing;
  }
  switch (phase) {
    case 'signed':
      return isSettled(state) ? END : 'stays';
    case 'refused':
    case 'released':
      return END;
    case 'unanswered':
      return aside ? 'stays' : ASIDE;
    default:
      if (await liveness.isHeld(holder, id, last)) return 'busy';
      if (phase === 'claimed') return END;
      return aside ? 'stays' : ASIDE;
  }
}

/**
 * Leaves out files whose process has ended if another file with this signature was written to the same path: nothing is left
 * to write for them.
 */
export async function withoutOvertaken(state: CallState, liveness: Liveness): Promise<CallState> {
  const shares = new Map(state.shares);
  for (const share of state.shares.values()) {
    if (!share.overtaken || share.state !== 'pending' || (await isAtWork(share, state, liveness))) continue;
    shares.set(share.id, { ...share, state: 'gone' });
  }
  return { ...state, shares };
}

/** Of a call that stays, is to be moved aside, or is busy. Undefined for one that is being ended. */
export async function kindOf(
  state: CallState,
  action: NextAction,
  liveness: Liveness,
): Promise<UnfinishedKind | undefined> {
  if (state.id === undefined || state.closing?.aim === 'end') return undefined;
  if (action === 'busy') return 'under-way';
  if (state.signed === undefined) return 'unknown';
  if (isWritten(state)) return isReportDue(state) ? 'unreported' : undefined;
  for (const share of sharesOf(state)) {
    if (await isAtWork(share, state, liveness)) return 'under-way';
  }
  return 'unwritten';
}

/** Whether the process of this file may still write it. */
export async function isAtWork(share: Share, { lastAt }: CallState, liveness: Liveness, watched = 0): Promise<boolean> {
  return share.state === 'pending' && (await liveness.isHeld(share.holder, share.id, { at: lastAt, watched }));
}
