/** What a file is given: its part in a call that has a signature, or the claim of one that is still to be requested. */

import { type Claimed, claimWork, type Decision, decide, markOf, type Part, shareCall, workId } from './claimant.ts';
import type { Urgency } from './commits.ts';
import type { Row } from './driver.ts';
import { journalErrors, journalWarnings } from './errors.ts';
import type { AfterFile, Asking, Claim, KnownCall, SharedCall, Waiting } from './journal.ts';
import type { Session, Unrecorded } from './session.ts';
import * as steps from './steps.ts';

const FIRST_PAUSE_MILLISECONDS = 50;
const LONGEST_PAUSE_MILLISECONDS = 500;
/** Less than others watch a run before they take it for gone. */
const LONGEST_UNTIL_SENT_MILLISECONDS = 120_000;
const NOTHING_DUE: AfterFile = { reportDue: undefined, reported: undefined };

/** As `Journal.known`. `patience`: milliseconds that a call of another run may stay unchanged. */
export async function knownCall(
  session: Session,
  asking: Asking,
  { signal, onWait }: Waiting,
  patience: number,
): Promise<KnownCall | undefined> {
  const { run, unrecorded } = session;
  let seen = { row: '', since: run.uptime() };
  let pause = FIRST_PAUSE_MILLISECONDS;
  let isReported = false;
  for (;;) {
    const kept = session.hasFailed() ? unrecorded.get(workId(asking.work)) : undefined;
    if (kept !== undefined) return outsideCall(kept);
    const decision = await decided(session, asking, (verified) => {
      const found = decide(run, asking, verified);
      return found.kind === 'share' ? { ...found, part: shareCall(run, asking, found.call) } : found;
    });
    switch (decision.kind) {
      case 'share':
        return { ...stepsOf(session, decision.part), known: signatureOf(decision.call) };
      case 'claim':
        return undefined;
      case 'mismatch':
        throw asking.mismatch([decision.name], decision.isOfAll);
      case 'just-unanswered':
        throw journalErrors('just-unanswered');
      case 'wait':
    }
    const { id, run: owner = null, state, attempts } = decision.call;
    const { whom } = decision;
    const row = JSON.stringify([id, owner, state, attempts]);
    if (row !== seen.row) seen = { row, since: run.uptime() };
    const isOther = owner !== run.id;
    if (isOther && run.uptime() - seen.since > patience) {
      throw journalErrors('work-held', { whom, seconds: Math.round(patience / 1000) });
    }
    if (isOther && !isReported) onWait?.(whom);
    isReported ||= isOther;
    await session.paused(pause, signal);
    if (signal?.aborted) throw journalErrors('claim-interrupted', { whom });
    pause = Math.min(pause * 1.5, LONGEST_PAUSE_MILLISECONDS);
  }
}

/** As `Journal.claim`. `name`: of the call that is inserted. */
export async function claimedCall(session: Session, asking: Asking, name: string): Promise<Claim | undefined> {
  session.assertUsable();
  const claimed = await decided(session, asking, (verified) => claimWork(session.run, asking, verified, name));
  return claimed.kind === 'claimed' ? claimOf(session, claimed, asking) : undefined;
}

/** Decides again once it is known whether the signature of the call verifies. */
async function decided<D extends Claimed | Decision>(
  session: Session,
  asking: Asking,
  decision: (verified: ReadonlyMap<string, boolean>) => D,
) {
  const verified = new Map<string, boolean>();
  for (;;) {
    const found = await session.decide(() => decision(verified));
    if (found.kind !== 'unverified') return found as Exclude<D, { readonly kind: 'unverified' }>;
    const { name, signature } = found.call;
    verified.set(String(name), asking.verifies(bytesOf(signature)));
  }
}

function signatureOf({ signature, record, token }: Row): KnownCall['known'] {
  return {
    signature: bytesOf(signature),
    record: typeof record === 'string' ? record : undefined,
    token: typeof token === 'string' ? bytesOf(token) : undefined,
  };
}

function bytesOf(text: Row[string] | undefined): Uint8Array {
  return new Uint8Array(Buffer.from(String(text), 'base64'));
}

/** A call for an equal file of this run, when the journal could not record the signature. */
function outsideCall({ name, signature, record }: Unrecorded): KnownCall {
  return {
    id: name,
    known: { signature, record, token: undefined },
    stamped: async () => undefined,
    written: async () => NOTHING_DUE,
    notWritten: async () => NOTHING_DUE,
    reported: async () => undefined,
  };
}

function stepsOf({ run, enter, warn }: Session, part: Part): SharedCall {
  const { id, name } = part;
  return {
    id: name,
    async stamped(given) {
      const token = Buffer.from(given).toString('base64');
      await enter('now', () => run.db.run('update calls set token = ? where id = ?', token, id));
    },
    async written(target, sha256) {
      return await enter('later', () => steps.write(run, part, target, sha256)).catch((thrown) => {
        warn(notRecorded(thrown));
        // A second report is harmless, a missing one is not.
        return { reportDue: 1, reported: undefined } as const;
      });
    },
    async notWritten(reason, changed = false) {
      return await enter('later', () => steps.failToWrite(run, part, reason, changed)).catch(() => NOTHING_DUE);
    },
    async reported(status) {
      await enter('later', () => steps.noteReport(run, id, status)).catch((thrown) => warn(notRecorded(thrown)));
    },
  };
}

export function notRecorded(thrown: unknown): string {
  return journalWarnings('step-not-recorded', { reason: messageOf(thrown) });
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function claimOf(session: Session, claimed: Claimed, asking: Asking): Claim {
  const { run, enter, warn, assertUsable, unrecorded } = session;
  const { id, name, unknown, isProven, work, metadata } = claimed;
  const shared = stepsOf(session, claimed);
  let committed = 0;
  let isOver = false;
  let isSurplus = false;
  const end = (apply: () => void, urgency: Urgency = 'now'): Promise<void> => {
    isOver = true;
    return enter(urgency, apply);
  };
  return {
    ...shared,
    known: undefined,
    unknownCalls: unknown,
    isProven,
    async requested(repeated = false) {
      assertUsable();
      await enter('now', () => {
        // Another file has shown meanwhile that the certificate does not match.
        const mark = markOf(run.db, asking);
        if (mark?.matches === 0) throw asking.mismatch([String(mark.call)], true);
        steps.request(run, id, repeated);
      });
      committed = run.uptime();
    },
    mayBeSent() {
      session.lookForReplaced();
      assertUsable();
      const isLate = run.uptime() - committed > LONGEST_UNTIL_SENT_MILLISECONDS;
      if (isLate || !steps.isRequested(run, id)) throw journalErrors('claim-lost');
    },
    deferred: (failure) => enter('soon', () => steps.defer(run, id, failure)),
    async signed(signature) {
      isOver = true;
      try {
        const kept = await enter('kept', () => steps.sign(run, claimed, signature));
        if (kept !== 'signed') warn(journalWarnings('late-answer', { file: metadata.file, id: name }));
        isSurplus = kept === 'surplus';
        return isSurplus ? 'surplus' : 'signed';
      } catch (thrown) {
        unrecorded.set(workId(work), { ...signature, name, file: metadata.file, reason: messageOf(thrown) });
        throw thrown;
      }
    },
    unusable: (given, reason) => end(() => steps.keepUnusable(run, claimed, given, reason), 'kept'),
    refused: (failure) => end(() => steps.endWithout(run, id, 'refused', failure), 'soon'),
    unanswered: (failure) => end(() => steps.endWithout(run, id, 'unknown', failure)),
    async release() {
      if (!isOver) await end(() => steps.endWithout(run, id, 'released'), 'soon').catch(() => undefined);
    },
    written: async (...of) => (isSurplus ? NOTHING_DUE : await shared.written(...of)),
    async notWritten(...of) {
      // The signature itself is not in the journal.
      if (session.hasFailed() && unrecorded.has(workId(work))) assertUsable();
      return isSurplus ? NOTHING_DUE : await shared.notWritten(...of);
    },
  };
}
