/** Getting hold of a piece of work: a call of one's own, or a part in the one that already has its signature. */

import type { CallFacts, ClaimOptions, SignatureOnRecord, Work } from '../journal.ts';
import type { JournalParts } from '../parts.ts';
import type { Place } from './call-files.ts';
import type { CallState, SignedStep } from './call-state.ts';
import { isUnusableUnder, isUpTo, isWritten, sharesOf } from './classify-call.ts';
import { closeCall } from './close-call.ts';
import { fateOf, isAtWork } from './next-action.ts';
import type { Share } from './shares.ts';
import type { WorkOnRecord } from './steps.ts';
import { watchCall } from './watch-call.ts';
import { toRecord, workId } from './work-id.ts';

/** What a claim stands on. */
export interface Ticket {
  /** The name of the work. */
  readonly name: string;
  readonly work: WorkOnRecord;
  readonly facts: CallFacts;
  readonly call: string;
  /** Of who asks it is the call's id. */
  readonly share: string;
  readonly known: SignatureOnRecord | undefined;
  readonly unknownCalls: readonly string[];
  readonly justUnanswered: boolean;
}

type Asking = Pick<Ticket, 'name' | 'work' | 'facts'>;

export async function claimWork(
  parts: JournalParts,
  given: Work,
  facts: CallFacts,
  options: ClaimOptions,
): Promise<Ticket> {
  const asking: Asking = { name: workId(given), work: toRecord(given), facts };
  const place = parts.calls.current(asking.name);
  const watch = watchCall(parts, asking.name, options);
  for (;;) {
    const state = await parts.calls.read(place);
    if (state?.id === undefined) {
      const ticket = await beginCall(parts, place, asking, state, watch.waitedFor);
      if (ticket) return ticket;
      continue;
    }
    const watched = watch.look(state);
    const fate = await fateOf(state, false, parts.liveness, watched);
    if (fate === 'busy') {
      await watch.wait(state);
    } else if (state.closing === undefined && isShareable(state, facts, parts)) {
      const ticket = await takePart(parts, place, asking, state, watched);
      if (ticket) return ticket;
    } else {
      await closeCall(parts, place, state, fate === 'stays' ? { aim: 'aside', givenUp: false } : fate);
    }
  }
}

/**
 * Not yet written everywhere; or so lately that it ended while this run was already going; or by a run that did not come
 * to its end, whose user asks for the same again and must not pay again.
 */
function isShareable(state: CallState, facts: CallFacts, { began, unended }: JournalParts): boolean {
  if (state.signed === undefined || isUnusableUnder(state, facts.certificate.sha256)) return false;
  if (!isWritten(state) || (state.lastWritten !== undefined && isUpTo(began, state.lastWritten))) return true;
  return [...state.shares.values()].some(({ holder }) => holder !== undefined && unended.has(holder.run));
}

/** Undefined when somebody else was faster. */
async function beginCall(
  parts: JournalParts,
  place: Place,
  asking: Asking,
  found: CallState | undefined,
  waitedFor: ReadonlySet<string>,
): Promise<Ticket | undefined> {
  const { calls, liveness, now, warn } = parts;
  const { name, work, facts } = asking;
  const id = parts.randomId();
  const common = { call: id, at: now().toISOString() };
  liveness.held.add(id);
  try {
    const making = found === undefined ? 'must-not-exist' : 'must-exist';
    const claimed = { step: 'claimed', ...common, holder: liveness.self, work, facts } as const;
    if ((await calls.begin(place, making, claimed)) === undefined) {
      liveness.held.delete(id);
      return undefined;
    }
    if (found !== undefined && found.damaged > 0) {
      warn(
        `An entry of the journal for ${facts.file} is damaged: an earlier signature may have been counted and lost.`,
      );
    }
    const finished = await findFinished(parts, asking);
    if (finished?.signed !== undefined) {
      const known = onRecord(finished.signed);
      const signature = Buffer.from(known.signature).toString('base64');
      const reported = finished.reported === 'not-wanted' ? undefined : finished.reported;
      const copied = { record: known.record, signature, copy: true, reported };
      await calls.record(name, { step: 'signed', ...common, ...copied }, 'no');
      return { ...asking, call: id, share: id, known, unknownCalls: [], justUnanswered: false };
    }
    const unknownCalls = await findUnknown(parts, name);
    const justUnanswered = unknownCalls.some((call) => waitedFor.has(call) || parts.unanswered.has(call));
    return { ...asking, call: id, share: id, known: undefined, unknownCalls, justUnanswered };
  } catch (thrown) {
    liveness.held.delete(id);
    parts.waiting.wake(name);
    throw thrown;
  }
}

/** Looked for only when the place is this process's own: a call that ends meanwhile is not missed. */
async function findFinished(parts: JournalParts, { name, facts }: Asking): Promise<CallState | undefined> {
  const state = await parts.finished.find(name);
  return state !== undefined && isShareable(state, facts, parts) ? state : undefined;
}

function onRecord({ signature, record }: SignedStep): SignatureOnRecord {
  return { signature, record };
}

async function findUnknown({ calls }: JournalParts, name: string): Promise<readonly string[]> {
  const unknown: string[] = [];
  for (const place of await calls.movedAside(name)) {
    const state = await calls.read(place);
    if (state?.id !== undefined && state.signed === undefined) unknown.push(state.id);
  }
  return unknown;
}

/** Undefined when the call has been closed meanwhile. */
async function takePart(
  parts: JournalParts,
  place: Place,
  asking: Asking,
  found: CallState,
  watched: number,
): Promise<Ticket | undefined> {
  const { calls, liveness } = parts;
  const { id: call, signed } = found;
  if (call === undefined || signed === undefined) return undefined;
  const share = parts.randomId();
  liveness.held.add(share);
  try {
    const instead = await findReplaced(parts, found, asking.facts.file, watched);
    const common = { call, at: parts.now().toISOString(), holder: liveness.self };
    const { work, facts } = asking;
    const decide = (state: CallState) =>
      state.id === call ? ({ step: 'shared', ...common, share, work, facts, instead } as const) : undefined;
    const state = await calls.append(place, decide, 'file');
    if (state?.shares.has(share)) {
      return { ...asking, call, share, known: onRecord(signed), unknownCalls: [], justUnanswered: false };
    }
  } catch (thrown) {
    liveness.held.delete(share);
    throw thrown;
  }
  liveness.held.delete(share);
  return undefined;
}

/** A file that was not written, and that nobody is at: this one by its name, or any, since their content is the same. */
async function findReplaced(
  { liveness }: JournalParts,
  state: CallState,
  file: string,
  watched: number,
): Promise<string | undefined> {
  const left: Share[] = [];
  for (const share of sharesOf(state)) {
    if (share.state !== 'written' && !(await isAtWork(share, state, liveness, watched))) left.push(share);
  }
  return (left.find((share) => share.facts?.file === file) ?? left[0])?.id;
}
