import type { CallMetadata, Reported, Work } from '../journal.ts';
import { splitLines } from '../lines.ts';
import type { HolderOnRecord } from '../processes.ts';
import { beginShare, endShare, type Share, type SharesOfCall, stampShare } from './shares.ts';
import { type ClosingStep, type Moment, readStep, type Step } from './steps.ts';

/** `empty`: not claimed. */
export type Phase = 'empty' | 'claimed' | 'requested' | 'signed' | 'refused' | 'unanswered' | 'released';

export interface SignedStep {
  readonly record: string | undefined;
  readonly signature: Uint8Array;
  /** Requested by an earlier call, which is finished. */
  readonly copy: boolean;
}

export interface CallState {
  /** Undefined until it is claimed. */
  readonly id: string | undefined;
  /** Lines, damaged ones too. */
  readonly lines: number;
  readonly damaged: number;
  /** Whether one of these is no half line, as a process leaves it that is killed while it writes. */
  readonly isCorrupt: boolean;
  readonly phase: Phase;
  /** Of who asked first; undefined when all lines that say so are damaged. */
  readonly holder: HolderOnRecord | undefined;
  readonly work: Work | undefined;
  readonly metadata: CallMetadata | undefined;
  /** When it was claimed, and when something was last recorded. */
  readonly at: string;
  readonly lastAt: string;
  readonly signed: SignedStep | undefined;
  readonly reason: string | undefined;
  readonly shares: ReadonlyMap<string, Share>;
  readonly lastWritten: Moment | undefined;
  readonly reported: Reported | undefined;
  /** Who closes it; nothing can be shared any more. */
  readonly closing: ClosingStep | undefined;
  /** Where an entry of the history may have been made for it already. */
  readonly historyOffsets: readonly { readonly month: string; readonly size: number }[];
}

type Draft = { -readonly [Key in keyof CallState]: CallState[Key] } & SharesOfCall;

/**
 * `aside`: id of a call that has been moved aside, so a closing with that aim is over, and the name of its file says whose
 * it is. `stepIn`: of a line, as `readStep` gives it.
 */
export function readCall(bytes: Uint8Array, aside: string | undefined, stepIn = readStep): CallState {
  const { lines, terminated } = splitLines(bytes);
  const state: Draft = { ...EMPTY, id: aside, shares: new Map(), writtenTo: new Set() };
  for (const [index, line] of lines.entries()) {
    const step = stepIn(line);
    const torn = !terminated && index === lines.length - 1 && isBeginning(line);
    if (step === undefined && !torn) damage(state, line);
    if (step !== undefined) take(state, step, aside !== undefined);
    state.lines += 1;
  }
  return state;
}

/** Every step begins so. What begins otherwise was never the beginning of a line, but is something else. */
const LINE_START = '{"step":"';

function isBeginning(line: string): boolean {
  return line.startsWith(LINE_START) || LINE_START.startsWith(line);
}

const EMPTY: CallState = {
  id: undefined,
  lines: 0,
  damaged: 0,
  isCorrupt: false,
  phase: 'empty',
  holder: undefined,
  work: undefined,
  metadata: undefined,
  at: '',
  lastAt: '',
  signed: undefined,
  reason: undefined,
  shares: new Map(),
  lastWritten: undefined,
  reported: undefined,
  closing: undefined,
  historyOffsets: [],
};

/** A whole line that cannot be read may have said that the request was about to go. A torn one was never acted upon. */
function damage(state: Draft, line: string): void {
  state.damaged += 1;
  if (!isBeginning(line) || line.endsWith('"}')) state.isCorrupt = true;
  if (state.phase === 'claimed') state.phase = 'requested';
}

function take(state: Draft, step: Step, aside: boolean): void {
  // In an empty file the first claim counts. One that stands after damaged lines is a new call, or the rest of one.
  state.id ??= step.call;
  if (step.call !== state.id) return;
  if (state.phase === 'empty') {
    state.at = step.at;
    state.phase = 'claimed';
  }
  state.lastAt = step.at;
  switch (step.step) {
    case 'claimed':
    case 'requested':
      if (state.closing !== undefined) return;
      takeAsking(state, step);
      if (step.step === 'requested' && state.phase === 'claimed') state.phase = 'requested';
      return;
    case 'deferred':
      if (state.phase === 'requested') state.phase = 'claimed';
      return;
    case 'signed':
      takeSigned(state, step);
      return;
    case 'refused':
    case 'unanswered':
    case 'released':
      if (state.phase !== 'signed') state.phase = step.step;
      if (step.step !== 'released') state.reason = step.reason;
      return;
    case 'shared':
      takeShare(state, step);
      return;
    case 'stamped':
      stampShare(state.shares, step.share, new Uint8Array(Buffer.from(step.token, 'base64')));
      return;
    case 'reported':
      state.reported = step.status;
      return;
    case 'closing':
      takeClosing(state, step, aside);
      return;
    default:
      if (endShare(state, step, state.signed?.copy === true) && step.step === 'written')
        state.lastWritten = step.moment;
  }
}

function takeAsking(
  state: Draft,
  { holder, work, facts }: Extract<Step, { readonly step: 'claimed' | 'requested' | 'shared' }>,
) {
  state.holder ??= holder;
  state.work ??= work;
  state.metadata ??= facts;
}

function takeSigned(state: Draft, step: Extract<Step, { readonly step: 'signed' }>): void {
  if (state.signed !== undefined) return;
  state.phase = 'signed';
  const signature = new Uint8Array(Buffer.from(step.signature, 'base64'));
  state.signed = { record: step.record, signature, copy: step.copy };
  state.reported = step.reported;
  const { id = '', holder, metadata } = state;
  beginShare(state.shares, { id, holder, metadata, instead: undefined });
}

function takeShare(state: Draft, step: Extract<Step, { readonly step: 'shared' }>): void {
  if (state.closing !== undefined || state.signed === undefined || state.shares.has(step.share)) return;
  // If the first line is damaged: a share records the work too.
  state.work ??= step.work;
  state.metadata ??= step.facts;
  const { share: id, holder, instead } = step;
  beginShare(state.shares, { id, holder, metadata: step.facts, instead });
}

function takeClosing(state: Draft, step: ClosingStep, aside: boolean): void {
  if (step.lines !== state.lines) return;
  if (step.history !== undefined) state.historyOffsets = [...state.historyOffsets, step.history];
  if (!aside || step.aim === 'end') state.closing = step;
}
