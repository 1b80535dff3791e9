/** What is to become of a call as it is found: somebody is at it, it is to be ended or moved aside, or it stays. */

import type { UnfinishedKind } from '../journal.ts';
import type { Liveness } from '../liveness.ts';
import type { CallState } from './call-state.ts';
import { isReportDue, isSettled, isWritten, sharesOf } from './classify-call.ts';
import type { Closing } from './close-call.ts';
import type { Share } from './shares.ts';

/** `busy`: a process is at it, and will say more. `stays`: there is a signature, or nobody knows. */
export type Fate = 'busy' | 'stays' | Closing;

const END: Closing = { aim: 'end', givenUp: false };
const ASIDE: Closing = { aim: 'aside', givenUp: false };

/** `watched`: as in LastSign. */
export async function fateOf(state: CallState, aside: boolean, liveness: Liveness, watched = 0): Promise<Fate> {
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
 * Without files whose process has ended, and whose place another file with this signature has taken meanwhile: nothing is
 * left to write of them.
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
export async function kindOf(state: CallState, fate: Fate, liveness: Liveness): Promise<UnfinishedKind | undefined> {
  if (state.id === undefined || state.closing?.aim === 'end') return undefined;
  if (fate === 'busy') return 'under-way';
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
