import type { JournalContext } from '../context.ts';
import { journalErrors, journalWarnings } from '../errors.ts';
import type { CallMetadata, Claim, ClaimOptions, Journal, Work } from '../journal.ts';
import { inWords } from '../processes.ts';
import type { CallLocation } from './call-files.ts';
import type { CallState } from './call-state.ts';
import { closeCall } from './close-call.ts';
import { ASIDE, isAtWork, isOfUnendedRun, isUpTo, isWritten, nextActionOf, sharesOf } from './next-action.ts';
import { type Share, tokenFor } from './shares.ts';
import { workId } from './steps.ts';

/** What a claim stands on. */
export interface Ticket extends Pick<Claim, 'known' | 'unknownCalls' | 'justUnanswered'> {
  /** The name of the work. */
  readonly name: string;
  readonly work: Work;
  readonly facts: CallMetadata;
  readonly call: string;
  /** Of who asks it is the call's id. */
  readonly share: string;
}

type Asking = Pick<Ticket, 'name' | 'work' | 'facts'>;

export async function claimWork(
  context: JournalContext,
  { origin, code, algorithm, digest }: Work,
  metadata: CallMetadata,
  options: ClaimOptions,
): Promise<Ticket> {
  const work = { origin, code, algorithm, digest };
  const asking: Asking = { name: workId(work), work, facts: metadata };
  const location = context.calls.current(asking.name);
  const watch = watchCall(context, asking.name, options);
  for (;;) {
    const state = await context.calls.read(location);
    if (state === undefined) {
      const ticket = await beginCall(context, location, asking, options, watch.waitedFor);
      if (ticket) return ticket;
      continue;
    }
    if (state.id === undefined) {
      await keepDamaged(context, location, asking);
      continue;
    }
    const watched = watch.look(state);
    const action = await nextActionOf(state, false, context.liveness, watched);
    if (action === 'busy') {
      await watch.wait(state);
    } else if (
      state.closing === undefined &&
      isShareable(state, context) &&
      (await verifies(context, state, asking, options))
    ) {
      const ticket = await joinCall(context, location, asking, state, watched);
      if (ticket) return ticket;
    } else {
      await closeCall(context, location, state, action === 'stays' ? ASIDE : action);
    }
  }
}

/** As `Journal.knownFor`. */
export function knownFor(context: JournalContext): Journal['knownFor'] {
  return async (work) => {
    const name = workId(work);
    const states = [await context.calls.read(context.calls.current(name)), await context.finished.find(name)];
    const shares = states.flatMap((state) => (state && isShareable(state, context) ? [...state.shares.values()] : []));
    return shares.flatMap(({ metadata }) => (metadata?.signingOptions === undefined ? [] : [metadata.signingOptions]));
  };
}

/**
 * The signature is reused if a file waits for it, if it was written after this run began, or if its run did not end well: the
 * user who repeats that run must not pay twice.
 */
function isShareable(state: CallState, context: JournalContext): boolean {
  if (state.signed === undefined) return false;
  if (!isWritten(state) || (state.lastWritten !== undefined && isUpTo(context.began, state.lastWritten))) return true;
  return isOfUnendedRun(state, context);
}

/** Throws the mismatch of a signature that is not in a file yet. One that is may be of a certificate that was replaced since. */
async function verifies(
  { pairs }: JournalContext,
  state: CallState,
  { work, facts }: Asking,
  { findMismatch }: ClaimOptions,
): Promise<boolean> {
  const { id = '', signed } = state;
  const mismatch = signed && findMismatch?.(signed, id);
  if (mismatch === undefined || isWritten(state)) return mismatch === undefined;
  await pairs.disprove({ ...work, leaf: facts.certificate.sha256 }, id);
  throw mismatch;
}

/**
 * A file without a call was emptied, or lost its first line. What it recorded may have been paid, so it becomes a call whose
 * outcome is unknown, and is moved aside as it is.
 */
async function keepDamaged(context: JournalContext, location: CallLocation, { work, facts }: Asking): Promise<void> {
  const { calls, liveness, now, warn } = context;
  const call = context.randomId();
  const common = { call, at: now().toISOString() };
  const requested = { step: 'requested', ...common, holder: liveness.self, work, facts } as const;
  if ((await calls.begin(location, 'must-exist', requested)) === undefined) return;
  const unanswered = { step: 'unanswered', ...common, reason: 'its entry in the journal was damaged' } as const;
  await calls.record(location.work, unanswered, 'file-and-name');
  const wasFor = `certificate number ${work.code} at ${work.origin}`;
  warn(journalWarnings('signature-perhaps-lost', { file: facts.file, wasFor, call }));
}

/** Undefined if another process was first. */
async function beginCall(
  context: JournalContext,
  location: CallLocation,
  asking: Asking,
  options: ClaimOptions,
  waitedFor: ReadonlySet<string>,
): Promise<Ticket | undefined> {
  const { calls, liveness, now, warn } = context;
  const { name, work, facts } = asking;
  const call = context.randomId();
  const common = { call, at: now().toISOString() };
  const ticket = { ...asking, call, share: call, known: undefined, unknownCalls: [], justUnanswered: false };
  const claim = async (): Promise<Ticket | undefined> => {
    const claimed = { step: 'claimed', ...common, holder: liveness.self, work, facts } as const;
    if ((await calls.begin(location, 'must-not-exist', claimed)) === undefined) return undefined;
    // Only now that this process has claimed the work: a call that ends meanwhile would be missed.
    const finished = await context.finished.find(name);
    if (finished !== undefined && finished.id === undefined) {
      warn(journalWarnings('finished-call-damaged', { file: facts.file }));
    }
    const isReusable =
      finished && isShareable(finished, context) && (await verifies(context, finished, asking, options));
    if (finished?.signed !== undefined && isReusable) {
      const { record, signature } = finished.signed;
      const reported = finished.reported === 'not-wanted' ? undefined : finished.reported;
      const copied = { record, signature: Buffer.from(signature).toString('base64'), copy: true, reported };
      await calls.record(name, { step: 'signed', ...common, ...copied }, 'no');
      return { ...ticket, known: { record, signature, token: tokenFor(finished.shares, facts.signingOptions) } };
    }
    const unknownCalls = await findUnknown(context, name);
    const justUnanswered = unknownCalls.some((id) => waitedFor.has(id) || context.unanswered.has(id));
    return { ...ticket, unknownCalls, justUnanswered };
  };
  try {
    return await liveness.hold(call, claim);
  } catch (thrown) {
    context.waiting.wake(name);
    throw thrown;
  }
}

async function findUnknown({ calls }: JournalContext, name: string): Promise<readonly string[]> {
  const unknown: string[] = [];
  for (const location of await calls.movedAside(name)) {
    const state = await calls.read(location);
    if (state?.id !== undefined && state.signed === undefined) unknown.push(state.id);
  }
  return unknown;
}

/** Undefined if the call has been closed meanwhile. */
async function joinCall(
  context: JournalContext,
  location: CallLocation,
  asking: Asking,
  found: CallState,
  watched: number,
): Promise<Ticket | undefined> {
  const { calls, liveness } = context;
  const { id: call, signed } = found;
  if (call === undefined || signed === undefined) return undefined;
  const share = context.randomId();
  return await liveness.hold(share, async () => {
    const { work, facts } = asking;
    const instead = await findReplaced(context, found, facts.file, watched);
    const common = { call, at: context.now().toISOString(), holder: liveness.self };
    const shared = { step: 'shared', ...common, share, work, facts, instead } as const;
    const state = await calls.append(location, ({ id }) => (id === call ? shared : undefined), 'file');
    if (!state?.shares.has(share)) return undefined;
    const { signature, record } = signed;
    const token = tokenFor(found.shares, facts.signingOptions);
    return { ...asking, call, share, known: { signature, record, token }, unknownCalls: [], justUnanswered: false };
  });
}

/** An unwritten file that no process works on: the one of this name, or any, since their content is the same. */
async function findReplaced(
  { liveness }: JournalContext,
  state: CallState,
  file: string,
  watched: number,
): Promise<string | undefined> {
  const left: Share[] = [];
  for (const share of sharesOf(state)) {
    if (share.state !== 'written' && !(await isAtWork(share, state, liveness, watched))) left.push(share);
  }
  return (left.find((share) => share.metadata?.file === file) ?? left[0])?.id;
}

const FIRST_WAIT_MILLISECONDS = 50;
const LONGEST_WAIT_MILLISECONDS = 500;

function watchCall({ uptime, waiting, liveness }: JournalContext, name: string, { signal, onWait }: ClaimOptions) {
  const waitedFor = new Set<string>();
  let isReported = false;
  let pause = FIRST_WAIT_MILLISECONDS;
  let seen = { id: '', lines: 0, since: 0 };
  return {
    waitedFor,
    /** Milliseconds. */
    look({ id = '', lines }: CallState): number {
      if (seen.id !== id || seen.lines !== lines) seen = { id, lines, since: uptime() };
      return uptime() - seen.since;
    },
    async wait(state: CallState): Promise<void> {
      const holder = state.closing?.holder ?? state.holder;
      const isOther = holder !== undefined && holder.run !== liveness.self.run;
      const whom = isOther ? inWords(holder, liveness.self) : 'another file of this run';
      if (state.id !== undefined) waitedFor.add(state.id);
      if (isOther && !isReported) {
        isReported = true;
        onWait?.(whom);
      }
      await waiting.wait(name, pause, signal);
      if (signal?.aborted) throw journalErrors('claim-interrupted', { whom });
      pause = Math.min(pause * 1.5, LONGEST_WAIT_MILLISECONDS);
    },
  };
}
