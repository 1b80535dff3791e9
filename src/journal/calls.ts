import * as claimant from './claimant.ts';
import type { Session, Urgency } from './commits.ts';
import type { Row } from './driver.ts';
import { journalErrors, journalWarnings, refusal } from './errors.ts';
import type { Claim, ClaimRequest, KnownCall, SharedCall, SignatureOnRecord, Waiting } from './journal.ts';
import { giveSignOfLife, nextNumber, type Run } from './runs.ts';
import { OPEN_STATES } from './schema.ts';

const FIRST_PAUSE_MILLISECONDS = 50;
const LONGEST_PAUSE_MILLISECONDS = 500;
/** This interval must be shorter than the time after which other runs presume that this run is dead. */
const LONGEST_UNTIL_SENT_MILLISECONDS = 120_000;
const NOT_ENDED = 'exists (select 1 from runs where id = ? and ended is null)';

/**
 * Implements `Journal.known`. Stops waiting for a call of another run if the call has not changed for `patience`
 * milliseconds.
 */
export async function knownCall(
  session: Session,
  request: ClaimRequest,
  { signal, onWait }: Waiting,
  patience: number,
): Promise<KnownCall | undefined> {
  const { uptime } = session;
  let seen = { row: '', since: 0 };
  let isReported = false;
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MILLISECONDS)) {
    const kept = session.unrecorded(request.work);
    if (kept !== undefined) return { ...sharedCall(session, { ...kept, ...request }), known: kept.given };
    const decision = await session.enter('soon', () => {
      const found = claimant.decide(session, request);
      return found.kind === 'share' ? { ...found, part: claimant.shareCall(session, request, found.call) } : found;
    });
    switch (decision.kind) {
      case 'share':
        return { ...sharedCall(session, decision.part), known: signatureOf(decision.call) };
      case 'claim':
        return undefined;
      case 'mismatch':
        throw request.mismatch([decision.name], decision.isOfAll);
      case 'just-unanswered':
        throw journalErrors('just-unanswered');
      case 'wait':
    }
    const { whom, call } = decision;
    const row = JSON.stringify([call.id, call.run, call.state, call.repeated]);
    if (row !== seen.row) seen = { row, since: uptime() };
    if (call.run !== session.id) {
      if (uptime() - seen.since > patience) {
        throw journalErrors('work-held', { whom, seconds: Math.round(patience / 1000) });
      }
      if (!isReported) onWait?.(whom);
      isReported = true;
    }
    await session.paused(pause, signal);
    if (signal?.aborted) throw journalErrors('claim-interrupted', { whom });
  }
}

function signatureOf({ signature, record, token }: Row): KnownCall['known'] {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const bytes = (value: unknown) => new Uint8Array(Buffer.from(String(value), 'base64'));
  return { signature: bytes(signature), record: text(record), token: token === null ? undefined : bytes(token) };
}

export function sharedCall(session: Session, part: claimant.Part): SharedCall {
  const { db, enter, warn } = session;
  const { call, name, metadata } = part;
  const place = claimant.placeOf(metadata);
  const warned = (thrown: unknown): undefined => void warn(notRecorded(thrown));
  return {
    id: name,
    async stamped(token) {
      if (session.unrecorded(part.work) !== undefined) return;
      await enter('now', () => db.run('update calls set token = ? where id = ?', base64(token), call));
    },
    async written(sha256) {
      const noting = enter('later', () => {
        db.run(
          `update files set written = 1, given_up = 0, reason = null, sha256 = coalesce(?, sha256, '')
           where call = ? and place = ?`,
          ...[sha256 ?? null, call, place],
        );
        // The other files that should be written to the same output no longer need this signature.
        const others = 'update files set given_up = 1 where call = ? and place <> ? and written = 0 and output = ?';
        db.run(others, call, place, metadata.signingOptions.output);
        const reportDue = claimant.makeDue(session, call, 1) ? 1 : undefined;
        return { reportDue, reported: claimant.closeIfDone(session, call) } as const;
      });
      // If this fails, the report is sent anyway: a duplicate report is harmless, but a missing one is not.
      return await noting.catch(warned).then((after) => after ?? { reportDue: 1, reported: undefined });
    },
    async notWritten(reason, changed = false) {
      // The journal does not contain this signature, so a later run could not find it.
      if (session.unrecorded(part.work) !== undefined) session.assertUsable();
      const noting = enter('later', () => {
        // Another run has already written this file with this signature, so there is nothing left to do.
        const again = 'update files set written = 1 where call = ? and place = ? and sha256 is not null';
        if (changed) db.run(again, call, place);
        db.run(
          `update files set reason = ?, given_up = max(given_up, ? and exists (
             select 1 from files o where o.call = files.call and o.output = files.output and o.written = 1))
           where call = ? and place = ? and written = 0`,
          ...[reason, Number(changed), call, place],
        );
        return { reportDue: undefined, reported: claimant.closeIfDone(session, call) };
      });
      return await noting.catch(() => ({ reportDue: undefined, reported: undefined }));
    },
    async reported(status) {
      const noting = enter('later', () => claimant.noteReport(session, call, status));
      await noting.catch(warned);
    },
  };
}

export function claimOf(session: Session, claimed: claimant.Claimed): Claim {
  const { id: me, db, enter, uptime, assertUsable } = session;
  const { call, name, metadata, unknownCalls, isProven } = claimed;
  let committed = 0;
  let isOver = false;
  const end = (state: 'refused' | 'unknown' | 'released', urgency: Urgency, reason?: string): Promise<void> => {
    isOver = true;
    return enter(urgency, () => claimant.endWithout(session, call, state, reason));
  };
  return {
    ...sharedCall(session, claimed),
    known: undefined,
    unknownCalls,
    isProven,
    async requested(repeated = false) {
      assertUsable();
      await enter('now', () => {
        // Since the claim was made, another file may have shown that the certificate does not match.
        const mark = claimant.markOf(db, claimed);
        if (mark?.matches === 0) throw claimed.mismatch([String(mark.call)], true);
        const changed = db.run(
          `update calls set state = 'requested', repeated = repeated + ?
           where id = ? and run = ? and (state = 'claimed' or state = 'requested' and repeated + ? > 0) and ${NOT_ENDED}`,
          ...[Number(repeated), call, me, Number(repeated), me],
        );
        if (changed === 0) throw journalErrors('claim-lost');
        // After this, other runs wait the full time again before they presume that this run is dead.
        giveSignOfLife(session);
      });
      committed = uptime();
    },
    mayBeSent() {
      session.lookForReplaced();
      assertUsable();
      const sql = `select 1 from calls where id = ? and run = ? and state = 'requested' and ${NOT_ENDED}`;
      const isLate = uptime() - committed > LONGEST_UNTIL_SENT_MILLISECONDS;
      if (isLate || db.get(sql, call, me, me) === undefined) throw journalErrors('claim-lost');
    },
    // A call that is retried stays `requested`, because an earlier attempt may have been counted.
    async deferred() {
      const sql =
        "update calls set state = 'claimed' where id = ? and run = ? and state = 'requested' and repeated = 0";
      await enter('soon', () => db.run(sql, call, me));
    },
    async signed(given) {
      isOver = true;
      const kept = await enter('kept', () => keepAnswer(session, claimed, given)).catch((thrown) => {
        session.keepInMemory({ ...claimed, given: { ...given, token: undefined }, reason: messageOf(thrown) });
        throw thrown;
      });
      if (kept !== 'signed') session.warn(journalWarnings('late-answer', { file: metadata.file, id: name }));
      return kept === 'surplus' ? 'surplus' : 'signed';
    },
    async unusable(given, reason) {
      isOver = true;
      await enter('kept', () => keepAnswer(session, claimed, given, reason));
    },
    refused: (reason) => end('refused', 'soon', reason),
    unanswered: (reason) => end('unknown', 'now', reason),
    async release() {
      if (!isOver) await end('released', 'soon').catch(() => undefined);
    },
  };
}

/** A late response is `surplus` if the work has another open call, or if the user forgot the call. */
function keepAnswer(
  me: Run,
  part: claimant.Claimed,
  given: SignatureOnRecord,
  unusable?: string,
): 'signed' | 'late' | 'surplus' {
  const { db, now } = me;
  const { call } = part;
  const sql = `select state, exists (select 1 from calls o where o.work = calls.work and o.state in ${OPEN_STATES}) as hasOpen
    from calls where id = ? and run = ? and state in ('requested', 'unknown', 'forgotten')`;
  const { state, hasOpen } = db.get(sql, call, me.id) ?? {};
  if (state === undefined) throw refusal('the call', 'is not in the journal any more');
  const isSurplus = state === 'forgotten' || (state === 'unknown' && hasOpen === 1);
  const { signature, record = null } = given;
  const to = unusable !== undefined ? 'unusable' : isSurplus ? 'surplus' : 'signed';
  const keeping = 'update calls set state = ?, settled = ?, ended_at = ?, record = ?, signature = ? where id = ?';
  db.run(keeping, to, nextNumber(db), now().getTime(), record, base64(signature), call);
  if (unusable !== undefined || !part.isProven) claimant.prove(db, part, unusable === undefined ? 1 : 0);
  if (unusable !== undefined) db.run('update files set reason = ? where call = ?', unusable, call);
  if (to !== 'signed') claimant.makeDue(me, call, 2);
  return isSurplus ? 'surplus' : state === 'unknown' ? 'late' : 'signed';
}

export function notRecorded(thrown: unknown): string {
  return journalWarnings('step-not-recorded', { reason: messageOf(thrown) });
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
