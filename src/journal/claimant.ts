/**
 * Decides where the signature for a file comes from, and changes the states of calls, based only on database rows. The
 * decision table is in the README. Each function is part of one transaction.
 */

import { fingerprintOf } from '../crypto/fingerprint.ts';
import type { Database, Row, Value } from './driver.ts';
import type { CallMetadata, Claim, ClaimRequest, Reported, Work } from './journal.ts';
import { inWords, isGone, nextNumber, type Run, unendedSince } from './runs.ts';
import { OPEN_STATES, UNFINISHED } from './schema.ts';

export type Decision =
  | { readonly kind: 'claim' | 'just-unanswered' }
  | { readonly kind: 'share'; readonly call: Row }
  | { readonly kind: 'wait'; readonly call: Row; readonly whom: string }
  | { readonly kind: 'mismatch'; readonly name: string; readonly isOfAll: boolean };

export interface Part extends ClaimRequest {
  readonly call: number;
  readonly name: string;
}

export type Claimed = Part & Pick<Claim, 'unknownCalls' | 'isProven'>;

/** 64 hexadecimal digits. JSON keeps the parts of the text separate, even if they contain separators. */
export function workId({ origin, code, algorithm, digest }: Work): string {
  return fingerprintOf(JSON.stringify([origin, code, algorithm, digest]));
}

/** Returns the open call for this signature, otherwise the latest call that the service may have counted. */
export function currentCall(db: Database, work: Work): Row | undefined {
  return db.get(
    `select * from calls where work = ? and state not in ('released', 'refused', 'forgotten')
     order by state in ${OPEN_STATES} desc, id desc limit 1`,
    workId(work),
  );
}

/** Inserts nothing, but settles a call that cannot continue: its run has ended, or its certificate was renewed. */
export function decide(me: Run, request: ClaimRequest, mark = markOf(me.db, request)): Decision {
  if (mark?.matches === 0) return { kind: 'mismatch', name: String(mark.call), isOfAll: true };
  const call = currentCall(me.db, request.work);
  if (call === undefined) return { kind: 'claim' };
  const { id = null, state, run = null, settled } = call;
  if (state === 'claimed' || state === 'requested') {
    if (!isGone(me, run)) return { kind: 'wait', call, whom: inWords(me, run) };
    // Without a number, the call counts as settled before this run began, so this run may request the signature again.
    if (state === 'requested') settle(me, id, 'unknown', null);
    else giveUp(me, id, 'released');
    return decide(me, request, mark);
  }
  const usable = state === 'signed' ? undefined : usableCall(me, request);
  if (usable !== undefined) return { kind: 'share', call: usable };
  if (state === 'unknown') return { kind: Number(settled) > me.began ? 'just-unanswered' : 'claim' };
  if (state === 'closed' && !isShared(me, call)) return { kind: 'claim' };
  if (verifies(request, call)) return { kind: 'share', call };
  if (state === 'closed') return { kind: 'claim' };
  if (state !== 'signed' || !isWritten(me, call)) {
    return { kind: 'mismatch', name: String(call.name), isOfAll: mark === undefined };
  }
  // The certificate was renewed after a file had been written.
  giveUp(me, id, 'closed');
  return { kind: 'claim' };
}

/** Returns a signature that verifies and that is in no file yet or was recorded after this run began. */
function usableCall({ db, began }: Run, request: ClaimRequest): Row | undefined {
  const sql = `select * from calls where work = ? and (state in ('surplus', 'unusable') or state = 'closed' and settled > ?)
    order by id desc`;
  return db.all(sql, workId(request.work), began).find((call) => verifies(request, call));
}

function verifies(request: ClaimRequest, { signature }: Row): boolean {
  return request.verifies(Buffer.from(String(signature), 'base64'));
}

/** If a command failed, the same command does not request its finished signatures again. */
export function isShared(me: Run, { id = null, settled }: Row): boolean {
  if (Number(settled) > me.began) return true;
  const sql = 'select 1 from files f join runs r on r.id = f.run where f.call = ? and r.well = 0 and r.began_at > ?';
  return me.db.get(sql, id, unendedSince(me)) !== undefined;
}

/** A file of a live run must not wait for the signature. */
function isWritten(me: Run, { id = null }: Row): boolean {
  if (me.db.get('select 1 from files where call = ? and written = 1', id) === undefined) return false;
  const waiting = me.db.all('select run from files where call = ? and written = 0 and given_up = 0', id);
  return waiting.every(({ run = null }) => isGone(me, run));
}

export function claimWork(me: Run, request: ClaimRequest, name: string): Claimed | undefined {
  const { db } = me;
  const mark = markOf(db, request);
  if (decide(me, request, mark).kind !== 'claim') return undefined;
  const { work, metadata } = request;
  const { origin, code, algorithm, digest } = work;
  const { file, bytes, certificate, client } = metadata;
  const row = db.get(
    `insert into calls (name, work, origin, code, algorithm, digest, run, state, at, file, bytes, certificate, leaf, client)
     values (?, ?, ?, ?, ?, ?, ?, 'claimed', ?, ?, ?, ?, ?, ?) returning id, name`,
    ...[name, workId(work), origin, code, algorithm, digest, me.id, me.now().getTime()],
    ...[file, bytes, certificate.name, certificate.sha256, client],
  );
  const unknown = db.all("select name from calls where work = ? and state = 'unknown'", workId(work));
  return {
    ...addFile(me, request, row ?? {}),
    unknownCalls: unknown.map((one) => String(one.name)),
    isProven: mark?.matches === 1,
  };
}

export function shareCall({ db, id: run }: Run, request: ClaimRequest, call: Row): Part {
  const { name, sha256 } = request.metadata.certificate;
  // A file may now be written with this signature, so the failure report (2) is no longer due.
  const sql = "update calls set state = 'signed', certificate = ?, leaf = ?, due = nullif(due, 2) where id = ?";
  db.run(sql, name, sha256, call.id ?? null);
  const part = addFile({ db, id: run }, request, call);
  prove(db, part, 1);
  return part;
}

export function markOf(db: Database, { work, metadata }: ClaimRequest): Row | undefined {
  const sql = 'select matches, call from proven where origin = ? and code = ? and leaf = ?';
  return db.get(sql, work.origin, work.code, metadata.certificate.sha256);
}

/** A certificate that has matched once stays proven, because one faulty response must not stop a whole team. */
export function prove(db: Database, { work, metadata, name }: Part, matches: 0 | 1): void {
  db.run(
    `insert into proven values (?, ?, ?, ?, ?)
     on conflict do update set matches = 1, call = excluded.call where matches < excluded.matches`,
    ...[work.origin, work.code, metadata.certificate.sha256, matches, name],
  );
}

function settle({ db, now }: Run, call: Value, state: string, number: Value = nextNumber(db)): void {
  const sql = 'update calls set state = ?, settled = ?, ended_at = ? where id = ?';
  db.run(sql, state, number, now().getTime(), call);
}

/** No file waits for the signature any more. */
function giveUp(me: Run, call: Value, state: 'released' | 'refused' | 'closed' | 'forgotten'): void {
  me.db.run('update files set given_up = 1 where call = ? and written = 0', call);
  settle(me, call, state);
}

/** Identifies a file of a call. */
export function placeOf({ signingOptions }: CallMetadata): string {
  const { path, output, inner } = signingOptions;
  return JSON.stringify([path, output, inner]);
}

function addFile({ db, id: run }: Pick<Run, 'db' | 'id'>, request: ClaimRequest, { id, name }: Row): Part {
  const { file, signingOptions: options } = request.metadata;
  db.run(
    `insert into files (call, run, place, file, output, options, wants_report) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (call, place) do update set run = excluded.run, file = excluded.file, options = excluded.options,
       wants_report = excluded.wants_report, written = 0, given_up = 0, reason = null`,
    ...[Number(id), run, placeOf(request.metadata), file, options.output, JSON.stringify(options)],
    Number(options.report),
  );
  return { ...request, call: Number(id), name: String(name) };
}

/** A call that was repeated becomes `unknown`, whatever the result of its last attempt is. */
export function endWithout(me: Run, call: number, state: 'refused' | 'unknown' | 'released', reason?: string): void {
  const { db, id } = me;
  const sql = "select repeated from calls where id = ? and run = ? and state in ('claimed', 'requested')";
  const { repeated } = db.get(sql, call, id) ?? {};
  if (repeated === undefined) return;
  if (Number(repeated) > 0 || state === 'unknown') settle(me, call, 'unknown');
  else giveUp(me, call, state);
  db.run('update calls set reason = ? where id = ?', reason ?? null, call);
}

export function noteReport(me: Run, call: number, status: Reported): void {
  const { db } = me;
  if (status === 'not-wanted') db.run('update calls set due = null where id = ?', call);
  // If a success report (1) is due, it is sent after the failure report (2).
  else db.run('update calls set reported = ?, due = nullif(due, ?) where id = ?', status, status, call);
  // A file was written although its call had already been reported as failed.
  if (status === 2 && db.get('select 1 from files where call = ? and written = 1', call)) makeDue(me, call, 1);
}

/** Returns true if this run must send the report: it has just become due, or the run that had to send it has ended. */
export function makeDue(me: Run, call: number, status: 1 | 2): boolean {
  const { record, due, reported, reporter, isWanted } =
    me.db.get(
      `select record, due, reported, reporter, exists (
         select 1 from files where call = calls.id and wants_report = 1) as isWanted from calls where id = ?`,
      call,
    ) ?? {};
  const isNew = due !== status && reported !== status && record !== null && isWanted === 1;
  if (!isNew && !(due === status && isGone(me, reporter ?? null))) return false;
  me.db.run('update calls set due = ?, reporter = ? where id = ?', status, me.id, call);
  return true;
}

/** Returns the report that was sent last. */
export function closeIfDone(me: Run, call: number): 1 | 2 | undefined {
  const waits = 'select 1 from files where call = calls.id and written = 0 and given_up = 0';
  const sql = `select reported, state = 'signed' and not exists (${waits}) as isDone from calls where id = ?`;
  const { reported, isDone } = me.db.get(sql, call) ?? {};
  if (isDone === 1) settle(me, call, 'closed');
  return reported === 1 || reported === 2 ? reported : undefined;
}

/** Ends the calls of a run that ends without their responses. */
export function endCalls(me: Run): void {
  const sql = `select id, state from calls where run = ? and ${UNFINISHED} and state in ('claimed', 'requested')`;
  for (const { id, state } of me.db.all(sql, me.id)) {
    endWithout(me, Number(id), state === 'claimed' ? 'released' : 'unknown');
  }
}

/** Forgets a call at the user's request. */
export function forget(me: Run, call: number, report: 1 | 2 | undefined): void {
  me.db.run('update calls set due = ?, reporter = ? where id = ?', report ?? null, me.id, call);
  giveUp(me, call, 'forgotten');
}
