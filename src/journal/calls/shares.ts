/** The files that share the signature of a call, as the lines of its file tell. */

import type { CallFacts } from '../journal.ts';
import type { HolderOnRecord, Step } from './steps.ts';

/** One file that the signature is for. `gone`: another one took its place, or it was left alone. */
export interface Share {
  readonly id: string;
  readonly holder: HolderOnRecord | undefined;
  readonly facts: CallFacts | undefined;
  readonly instead: string | undefined;
  readonly state: 'pending' | 'written' | 'not-written' | 'unusable' | 'gone';
  readonly reason: string | undefined;
  /** Where it was written. */
  readonly target: string | undefined;
  /** Another one has been written to the same place meanwhile: if this one is not, nothing is left to write. */
  readonly overtaken: boolean;
}

export type Shares = Map<string, Share>;

type Beginning = Pick<Share, 'id' | 'holder' | 'facts' | 'instead'>;
export type ShareEnd = Extract<Step, { readonly step: 'written' | 'not-written' | 'unusable' | 'withdrawn' }>;

export function beginShare(shares: Shares, { id, holder, facts, instead }: Beginning): void {
  const replaced = shares.get(instead ?? '');
  const replaces = replaced !== undefined && replaced.state !== 'written' && replaced.state !== 'gone';
  if (replaces) shares.set(replaced.id, { ...replaced, state: 'gone' });
  const nothingYet = { state: 'pending', reason: undefined, target: undefined, overtaken: false } as const;
  shares.set(id, { id, holder, facts, instead: replaces ? replaced.id : undefined, ...nothingYet });
}

/**
 * False when nothing ended: an unknown file, or one that had ended before. `copy`: the signature is another call's, which
 * is over, so that nothing is lost with this file.
 */
export function endShare(shares: Shares, step: ShareEnd, copy: boolean): boolean {
  const share = shares.get(step.share);
  if (share === undefined || share.state === 'gone' || share.state === 'written') return false;
  switch (step.step) {
    case 'written':
      shares.set(share.id, { ...share, state: 'written', reason: undefined, target: step.target });
      overtake(shares, step.share);
      break;
    case 'not-written': {
      const isLost = share.overtaken || (step.changed === true && (copy || isPlaceTaken(shares, share)));
      shares.set(share.id, { ...share, state: isLost ? 'gone' : 'not-written', reason: step.reason });
      break;
    }
    case 'withdrawn':
      // Who took the place of an unwritten file and leaves again must not take that file along.
      shares.set(share.id, {
        ...share,
        state: share.instead === undefined || share.overtaken ? 'gone' : 'not-written',
      });
      break;
    default:
      shares.set(share.id, { ...share, state: 'unusable', reason: step.reason });
  }
  return true;
}

/** By a file with this signature, perhaps before this one was taken up. */
function isPlaceTaken(shares: Shares, { facts }: Share): boolean {
  const output = facts?.manner?.output;
  const places = [...shares.values()].flatMap((share) => (share.state === 'written' ? placesOf(share) : []));
  return output !== undefined && places.includes(output);
}

function placesOf({ facts, target }: Share): readonly (string | undefined)[] {
  return [facts?.manner?.output, target];
}

/** Several runs may be at the very same file: one of them writes it, and the others find that it has changed. */
function overtake(shares: Shares, winner: string): void {
  for (const share of [...shares.values()]) {
    if (share.id === winner || !isPlaceTaken(shares, share)) continue;
    if (share.state === 'pending') shares.set(share.id, { ...share, overtaken: true });
    if (share.state === 'not-written') shares.set(share.id, { ...share, state: 'gone' });
  }
}
