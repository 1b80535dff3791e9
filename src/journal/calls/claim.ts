import type { JournalContext } from '../context.ts';
import { journalErrors } from '../errors.ts';
import type { AfterFile, CallMetadata, Claim, ClaimOptions, Work } from '../journal.ts';
import type { Flush } from './call-files.ts';
import type { CallState } from './call-state.ts';
import { claimWork, type Ticket } from './claim-work.ts';
import { closeCall } from './close-call.ts';
import { isReportDue, isSettled, withoutOvertaken } from './next-action.ts';
import type { Step } from './steps.ts';

export async function claim(
  context: JournalContext,
  work: Work,
  metadata: CallMetadata,
  options: ClaimOptions = {},
): Promise<Claim> {
  await context.unended.begin();
  return makeClaim(context, await claimWork(context, work, metadata, options));
}

/** A step without the members that all steps of a claim share. */
type StepOf<S> = S extends { readonly step: string } ? Omit<S, 'call' | 'at'> : never;

/** For a call whose file is gone. */
const NOTHING_KNOWN: AfterFile = { reportDue: false, reported: undefined };

function afterFile(state: CallState): AfterFile {
  const { reported } = state;
  return { reportDue: isReportDue(state), reported: reported === 'not-wanted' ? undefined : reported };
}

function makeClaim(context: JournalContext, ticket: Ticket): Claim {
  const { calls, liveness, waiting, now } = context;
  const { name, call, share, work, facts } = ticket;
  const asking = { holder: liveness.self, work, facts };
  const pair = { ...work, leaf: facts.certificate.sha256 };
  let given = ticket.known;
  let givenIsRecorded = given !== undefined;
  let over = false;
  /** The last step, as long as it could not be recorded. */
  let missed: (() => Promise<CallState | undefined>) | undefined;

  async function record(given: StepOf<Step>, flush: Flush): Promise<CallState | undefined> {
    const step = { ...given, call, at: now().toISOString() } as Step;
    try {
      return await calls.record(name, step, flush);
    } finally {
      waiting.wake(name);
    }
  }

  async function recordGiven(): Promise<void> {
    if (given === undefined || givenIsRecorded) return;
    const signature = Buffer.from(given.signature).toString('base64');
    const step = { step: 'signed', record: given.record, signature, copy: false } as const;
    if ((await record(step, 'file')) === undefined) {
      // The file of the call is gone. The signature is paid for, so it is kept.
      const requested = { step: 'requested', ...asking, call, at: now().toISOString() } as const;
      await calls.restore(name, requested);
      await record(step, 'file-and-name');
    }
    givenIsRecorded = true;
  }

  /** Records the last step of this file. Other processes no longer wait for this one, even if recording fails. */
  async function end(step: StepOf<Step>, flush: Flush): Promise<CallState | undefined> {
    over = true;
    try {
      missed = async () => {
        // A disk that was full when the signature arrived may have free space now.
        await recordGiven();
        return await record(step, flush);
      };
      const state = await missed();
      missed = undefined;
      return state;
    } finally {
      liveness.held.delete(share);
    }
  }

  /**
   * The file of the call may have been moved aside by a process that assumed this one had ended. A process that waited for
   * this step may have read it before it was flushed and be closing the call: then this one leaves it alone.
   */
  async function close(state: CallState | undefined, aim: 'end' | 'aside'): Promise<void> {
    if (state === undefined || state.closing !== undefined) return;
    for (const location of [calls.current(name), calls.aside(name, call)]) {
      if (await closeCall(context, location, state, { aim, givenUp: false })) return;
    }
  }

  /** The state without overtaken files. */
  async function standing(state: CallState | undefined): Promise<CallState | undefined> {
    return state && (await withoutOvertaken(state, liveness));
  }

  async function settle(state: CallState | undefined): Promise<void> {
    if (state !== undefined && isSettled(state)) await close(state, 'end');
  }

  return {
    id: call,
    known: ticket.known,
    unknownCalls: ticket.unknownCalls,
    justUnanswered: ticket.justUnanswered,

    async requested() {
      const state = await record({ step: 'requested', ...asking }, 'file-and-name');
      if (state?.phase === 'requested' && state.closing === undefined) return;
      over = true;
      liveness.held.delete(share);
      throw journalErrors('claim-lost');
    },

    async deferred() {
      // Without a flush: if the power fails now, the call is listed as one that may have been counted.
      await record({ step: 'deferred' }, 'no');
    },

    async signed(record) {
      given = record;
      await recordGiven();
    },

    async stamped(token) {
      await record({ step: 'stamped', share, token: Buffer.from(token).toString('base64') }, 'file');
    },

    async refused(reason) {
      await close(await end({ step: 'refused', reason }, 'no'), 'end');
    },

    async unanswered(reason) {
      context.unanswered.add(call);
      await close(await end({ step: 'unanswered', reason }, 'file'), 'aside');
    },

    async unusable(reason) {
      await end({ step: 'unusable', share, reason }, 'no');
      await context.pairs.disprove(pair, call);
    },

    async written(target, sha256) {
      const moment = { at: now().toISOString(), up: context.uptime(), boot: liveness.self.boot };
      const state = await standing(await end({ step: 'written', share, target, sha256, moment }, 'no'));
      // Without the pair, the next run makes its first call alone. Nothing else depends on it.
      await context.pairs.prove(pair, ticket.known === undefined).catch(() => undefined);
      await settle(state);
      return state === undefined ? { ...NOTHING_KNOWN, reportDue: given?.record !== undefined } : afterFile(state);
    },

    async notWritten(reason, changed) {
      try {
        const state = await standing(await end({ step: 'not-written', share, reason, changed }, 'no'));
        await settle(state);
        return state === undefined ? NOTHING_KNOWN : afterFile(state);
      } catch (thrown) {
        // The reason is for people. A signature that is on record waits for its file without it.
        if (!givenIsRecorded) throw thrown;
        // A full disk can be read, and a report may be due now.
        const state = await calls.read(calls.current(name)).catch(() => undefined);
        return state?.id === call ? afterFile(state) : NOTHING_KNOWN;
      }
    },

    async reported(status) {
      // The last chance to record the step: without it, the outcome of a paid call would be unknown.
      await missed?.();
      missed = undefined;
      await settle(await record({ step: 'reported', status }, 'no'));
    },

    async release() {
      if (over) return;
      // Nothing depends on it: another process that wants the work finds and ends what this one no longer holds.
      await leave().catch(() => undefined);
    },
  };

  async function leave(): Promise<void> {
    if (ticket.known !== undefined) await settle(await end({ step: 'withdrawn', share }, 'no'));
    else if (given !== undefined) await end({ step: 'not-written', share, reason: 'it was left alone' }, 'no');
    else await close(await end({ step: 'released' }, 'no'), 'end');
  }
}
