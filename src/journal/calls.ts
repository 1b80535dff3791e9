/** What a file is given: its part in a call, and the claim of one that is still to be requested. */

import { type Claimed, markOf, workId } from './claimant.ts';
import type { Urgency } from './commits.ts';
import type { Database, Row } from './driver.ts';
import { journalErrors, journalWarnings } from './errors.ts';
import type { AfterFile, Asking, Claim, KnownCall, SharedCall, SignatureOnRecord } from './journal.ts';
import type { Run } from './runs.ts';
import * as steps from './steps.ts';

/** Less than others watch a run before they take it for gone. */
const LONGEST_UNTIL_SENT_MILLISECONDS = 120_000;

const NOTHING_DUE: AfterFile = { reportDue: undefined, reported: undefined };

/** A signature that could not be committed. */
export interface Unrecorded extends SignatureOnRecord {
  readonly name: string;
  readonly file: string;
  readonly reason: string;
}

/** What the calls of a run have in common. */
export interface Session {
  readonly db: Database;
  readonly run: Run;
  /** By the work. */
  readonly unrecorded: Map<string, Unrecorded>;
  warn(sentence: string): void;
  enter<T>(urgency: Urgency, apply: () => T): Promise<T>;
  /** Throws once the run must not make requests any more. */
  assertUsable(): void;
  /** Looks whether the files of the database are still those that were opened. */
  lookForReplaced(): void;
  /** Whether something that was paid is not in the journal. */
  hasFailed(): boolean;
}

export function sharedCall(session: Session, call: Row, asking: Asking): KnownCall {
  const { id, name, record, signature, token } = call;
  const given = { signature: bytesOf(signature), record: typeof record === 'string' ? record : undefined };
  const stamp = typeof token === 'string' ? bytesOf(token) : undefined;
  return { ...stepsOf(session, Number(id), String(name), asking), known: { ...given, token: stamp } };
}

function bytesOf(text: Row[string] | undefined): Uint8Array {
  return new Uint8Array(Buffer.from(String(text), 'base64'));
}

/** A call for an equal file of this run, when the journal could not record the signature. */
export function outsideCall({ name, signature, record }: Unrecorded): KnownCall {
  return {
    id: name,
    known: { signature, record, token: undefined },
    stamped: async () => undefined,
    written: async () => NOTHING_DUE,
    notWritten: async () => NOTHING_DUE,
    reported: async () => undefined,
  };
}

function stepsOf({ db, run, enter, warn }: Session, id: number, name: string, { metadata }: Asking): SharedCall {
  return {
    id: name,
    stamped: (given) => enter('now', () => steps.stamp(db, id, given)),
    async written(target, sha256) {
      return await enter('later', () => steps.write(db, run, id, metadata, target, sha256)).catch((thrown) => {
        warn(notRecorded(thrown));
        // A second report is harmless, a missing one is not.
        return { reportDue: 1, reported: undefined } as const;
      });
    },
    async notWritten(reason, changed = false) {
      const entry = () => steps.failToWrite(db, run, id, metadata, reason, changed);
      return await enter('later', entry).catch(() => NOTHING_DUE);
    },
    async reported(status) {
      await enter('later', () => steps.noteReport(db, run, id, status)).catch((thrown) => warn(notRecorded(thrown)));
    },
  };
}

export function notRecorded(thrown: unknown): string {
  return journalWarnings('step-not-recorded', { reason: thrown instanceof Error ? thrown.message : String(thrown) });
}

export function claimOf(session: Session, { id, name, unknown, isProven }: Claimed, asking: Asking): Claim {
  const { db, run, enter, warn, lookForReplaced, assertUsable, unrecorded, hasFailed } = session;
  const { work, metadata } = asking;
  const shared = stepsOf(session, id, name, asking);
  let committed = 0;
  let isOver = false;
  let isSurplus = false;
  const given = (signature: SignatureOnRecord): steps.Signed => ({ ...signature, call: id, name, work, metadata });
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
        const mark = markOf(db, asking);
        if (mark?.matches === 0) throw asking.mismatch([String(mark.call)], true);
        steps.request(db, run, id, repeated);
      });
      committed = run.uptime();
    },
    mayBeSent() {
      lookForReplaced();
      assertUsable();
      if (run.uptime() - committed > LONGEST_UNTIL_SENT_MILLISECONDS) throw journalErrors('claim-lost');
      if (!steps.isRequested(db, run, id)) throw journalErrors('claim-lost');
    },
    deferred: (failure) => enter('soon', () => steps.defer(db, run, id, failure)),
    async signed(signature) {
      isOver = true;
      try {
        const kept = await enter('kept', () => steps.sign(db, run, given(signature)));
        if (kept !== 'signed') warn(journalWarnings('late-answer', { file: metadata.file, id: name }));
        isSurplus = kept === 'surplus';
        return isSurplus ? 'surplus' : 'signed';
      } catch (thrown) {
        const reason = thrown instanceof Error ? thrown.message : String(thrown);
        unrecorded.set(workId(work), { ...signature, name, file: metadata.file, reason });
        throw thrown;
      }
    },
    unusable: (signature, reason) => end(() => steps.keepUnusable(db, run, given(signature), reason), 'kept'),
    refused: (failure) => end(() => steps.endWithout(db, run, id, 'refused', failure), 'soon'),
    unanswered: (failure) => end(() => steps.endWithout(db, run, id, 'unknown', failure)),
    async release() {
      if (!isOver) await end(() => steps.endWithout(db, run, id, 'released'), 'soon').catch(() => undefined);
    },
    written: async (...of) => (isSurplus ? NOTHING_DUE : await shared.written(...of)),
    async notWritten(...of) {
      // The signature itself is not in the journal.
      if (hasFailed() && unrecorded.has(workId(work))) assertUsable();
      return isSurplus ? NOTHING_DUE : await shared.notWritten(...of);
    },
  };
}
