import type { CallMetadata } from '../journal.ts';
import type { HolderOnRecord, Step } from './steps.ts';

/** One file that the signature is for. `gone`: another file replaced it, or it was left alone. */
export interface Share {
  readonly id: string;
  readonly holder: HolderOnRecord | undefined;
  readonly metadata: CallMetadata | undefined;
  readonly instead: string | undefined;
  readonly state: 'pending' | 'written' | 'not-written' | 'unusable' | 'gone';
  readonly reason: string | undefined;
  /** Where it was written. */
  readonly target: string | undefined;
  /** Another file was written to the same path meanwhile: if this one is not written, nothing is left to do. */
  readonly overtaken: boolean;
}

export type Shares = Map<string, Share>;

type Beginning = Pick<Share, 'id' | 'holder' | 'metadata' | 'instead'>;
export type ShareEnd = Extract<Step, { readonly step: 'written' | 'not-written' | 'unusable' | 'withdrawn' }>;

export function beginShare(shares: Shares, { id, holder, metadata, instead }: Beginning): void {
  const replaced = shares.get(instead ?? '');
  const replaces = replaced !== undefined && replaced.state !== 'written' && replaced.state !== 'gone';
  if (replaces) shares.set(replaced.id, { ...replaced, state: 'gone' });
  const nothingYet = { state: 'pending', reason: undefined, target: undefined, overtaken: false } as const;
  shares.set(id, { id, holder, metadata, instead: replaces ? replaced.id : undefined, ...nothingYet });
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
      const isLost = share.overtaken || (step.changed === true && (copy || isTargetWritten(shares, share)));
      shares.set(share.id, { ...share, state: isLost ? 'gone' : 'not-written', reason: step.reason });
      break;
    }
    case 'withdrawn':
      // A file that replaced an unwritten one and leaves again restores that one.
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
function isTargetWritten(shares: Shares, { metadata }: Share): boolean {
  const output = metadata?.signingOptions?.output;
  const written = [...shares.values()].flatMap((share) => (share.state === 'written' ? targetsOf(share) : []));
  return output !== undefined && written.includes(output);
}

function targetsOf({ metadata, target }: Share): readonly (string | undefined)[] {
  return [metadata?.signingOptions?.output, target];
}

/** Several runs may sign the same file: one of them writes it, and the others find that it has changed. */
function overtake(shares: Shares, winner: string): void {
  for (const share of [...shares.values()]) {
    if (share.id === winner || !isTargetWritten(shares, share)) continue;
    if (share.state === 'pending') shares.set(share.id, { ...share, overtaken: true });
    if (share.state === 'not-written') shares.set(share.id, { ...share, state: 'gone' });
  }
}
