/** The files that share the signature of a call, as the lines of its file tell. */

import type { CallFacts } from './journal.ts';
import type { HolderOnRecord, Step } from './steps.ts';

/** One file that the signature is for. `gone`: another one took its place, or it was left alone. */
export interface Share {
  readonly id: string;
  readonly holder: HolderOnRecord | undefined;
  readonly facts: CallFacts | undefined;
  readonly instead: string | undefined;
  readonly state: 'pending' | 'written' | 'not-written' | 'unusable' | 'gone';
  readonly reason: string | undefined;
  /** Another one has been written to the same place meanwhile: if this one is not, nothing is left to write. */
  readonly overtaken: boolean;
}

export type Shares = Map<string, Share>;

type Beginning = Pick<Share, 'id' | 'holder' | 'facts' | 'instead'>;
type End = Extract<Step, { readonly step: 'written' | 'not-written' | 'unusable' | 'withdrawn' }>;

export function beginShare(shares: Shares, { id, holder, facts, instead }: Beginning): void {
  const replaced = shares.get(instead ?? '');
  const replaces = replaced !== undefined && replaced.state !== 'written' && replaced.state !== 'gone';
  if (replaces) shares.set(replaced.id, { ...replaced, state: 'gone' });
  const taken = replaces ? replaced.id : undefined;
  shares.set(id, { id, holder, facts, instead: taken, state: 'pending', reason: undefined, overtaken: false });
}

/** False when nothing ended: an unknown file, or one that had ended before. */
export function endShare(shares: Shares, step: End): boolean {
  const share = shares.get(step.share);
  if (share === undefined || share.state === 'gone' || share.state === 'written') return false;
  switch (step.step) {
    case 'written':
      shares.set(share.id, { ...share, state: 'written', reason: undefined });
      overtake(shares, share, step.target);
      break;
    case 'withdrawn':
      // Who took the place of an unwritten file and leaves again must not take that file along.
      shares.set(share.id, {
        ...share,
        state: share.instead === undefined || share.overtaken ? 'gone' : 'not-written',
      });
      break;
    default:
      shares.set(share.id, { ...share, state: isLost(step, share) ? 'gone' : step.step, reason: step.reason });
  }
  return true;
}

/** Lost the race for a place in which another file with this signature is now. */
function isLost({ step }: End, { overtaken }: Share): boolean {
  return overtaken && step === 'not-written';
}

/** Several runs may be at the very same file: one of them writes it, and the others find that it has changed. */
function overtake(shares: Shares, winner: Share, target: string): void {
  const places = [target, winner.facts?.manner?.output];
  for (const share of [...shares.values()]) {
    const output = share.facts?.manner?.output;
    if (share.id === winner.id || output === undefined || !places.includes(output)) continue;
    if (share.state === 'pending') shares.set(share.id, { ...share, overtaken: true });
    if (share.state === 'not-written') shares.set(share.id, { ...share, state: 'gone' });
  }
}
