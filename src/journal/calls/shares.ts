import type { CallMetadata, RecordedSigningOptions } from '../journal.ts';
import type { HolderOnRecord } from '../processes.ts';
import type { Step } from './steps.ts';

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
  /** Of the written file, in hex. */
  readonly sha256: string | undefined;
  /** Another file was written to the same path meanwhile: if this one is not written, nothing is left to do. */
  readonly overtaken: boolean;
  /** The timestamp of the signature in this file. */
  readonly token: Uint8Array | undefined;
}

export type Shares = Map<string, Share>;

export interface SharesOfCall {
  readonly shares: Shares;
  /** Paths that files with this signature were written to. */
  readonly writtenTo: Set<string>;
}

type Beginning = Pick<Share, 'id' | 'holder' | 'metadata' | 'instead'>;
type ShareEnd = Extract<Step, { readonly step: 'written' | 'not-written' | 'unusable' | 'withdrawn' }>;

export function beginShare(shares: Shares, { id, holder, metadata, instead }: Beginning): void {
  const replaced = shares.get(instead ?? '');
  const replaces = replaced !== undefined && replaced.state !== 'written' && replaced.state !== 'gone';
  if (replaces) shares.set(replaced.id, { ...replaced, state: 'gone' });
  const nothingYet = {
    state: 'pending',
    reason: undefined,
    target: undefined,
    sha256: undefined,
    overtaken: false,
    token: undefined,
  } as const;
  shares.set(id, { id, holder, metadata, instead: replaces ? replaced.id : undefined, ...nothingYet });
}

export function stampShare(shares: Shares, id: string, token: Uint8Array): void {
  const share = shares.get(id);
  // Put last: of several timestamps of one file the last one counts.
  shares.delete(id);
  if (share !== undefined) shares.set(id, { ...share, token });
}

/** The timestamp that was recorded last for the same file, or else for another one. */
export function tokenFor(
  shares: ReadonlyMap<string, Share>,
  wanted: Pick<RecordedSigningOptions, 'path' | 'output' | 'inner'> | undefined,
): Uint8Array | undefined {
  const stamped = [...shares.values()].filter(({ token }) => token !== undefined);
  const own = stamped.findLast(({ metadata }) => {
    const { path, output, inner } = metadata?.signingOptions ?? {};
    return path === wanted?.path && output === wanted?.output && inner === wanted?.inner;
  });
  return (own ?? stamped.at(-1))?.token;
}

/** False when nothing ended: an unknown file, or one that had ended before. */
export function endShare(call: SharesOfCall, step: ShareEnd, isCopy: boolean): boolean {
  const { shares, writtenTo } = call;
  const share = shares.get(step.share);
  if (share === undefined || share.state === 'gone' || share.state === 'written') return false;
  switch (step.step) {
    case 'written':
      shares.set(share.id, {
        ...share,
        state: 'written',
        reason: undefined,
        target: step.target,
        sha256: step.sha256,
      });
      for (const path of [step.target, outputOf(share)]) if (path !== undefined) writtenTo.add(path);
      overtake(call);
      break;
    case 'not-written': {
      const isLost = share.overtaken || (step.changed === true && (isCopy || isTargetWritten(call, share)));
      shares.set(share.id, { ...share, state: isLost ? 'gone' : 'not-written', reason: step.reason });
      break;
    }
    case 'withdrawn': {
      // A file that replaced an unwritten one and leaves again restores that one.
      const isGone = share.instead === undefined || share.overtaken;
      shares.set(share.id, { ...share, state: isGone ? 'gone' : 'not-written' });
      break;
    }
    default:
      shares.set(share.id, { ...share, state: 'unusable', reason: step.reason });
  }
  return true;
}

function outputOf({ metadata }: Share): string | undefined {
  return metadata?.signingOptions?.output;
}

/** Whether a file with this signature was written to the same path, perhaps before this one was taken up. */
function isTargetWritten({ writtenTo }: SharesOfCall, share: Share): boolean {
  const output = outputOf(share);
  return output !== undefined && writtenTo.has(output);
}

/** Several runs may sign the same file: one of them writes it, and the others find that it has changed. */
function overtake(call: SharesOfCall): void {
  const { shares } = call;
  for (const share of [...shares.values()]) {
    if (!isTargetWritten(call, share)) continue;
    if (share.state === 'pending') shares.set(share.id, { ...share, overtaken: true });
    if (share.state === 'not-written') shares.set(share.id, { ...share, state: 'gone' });
  }
}
