/**
 * Decides where the signature for a file comes from, and changes the states of calls, based only on database rows. The
 * decision table is in the README. Each function is part of one transaction.
 */

import { fingerprintOf } from '../crypto/fingerprint.ts';
import type { Database, Row, Value } from './driver.ts';
import type { Asking, CallMetadata, Claim, Failure, Reported, Work } from './journal.ts';
import { inWords, isGone, nextNumber, type Run, unendedSince } from './runs.ts';
import { OPEN_STATES, UNFINISHED_STATES } from './schema.ts';

export type Decision =
  /** A new call may be inserted, after `call` gets the state `before`. */
  | { readonly kind: 'claim'; readonly call?: Row; readonly before?: 'released' | 'unknown' | 'aside' }
  | { readonly kind: 'share'; readonly call: Row }
  | { readonly kind: 'wait'; readonly call: Row; readonly whom: string }
  | { readonly kind: 'mismatch'; readonly name: string; readonly isOfAll: boolean }
  | { readonly kind: 'just-unanswered' };

export interface Part extends Asking {
  readonly call: number;
  readonly name: string;
}

export type Claimed = Part & Pick<Claim, 'unknownCalls' | 'isProven'>;

/** 64 hexadecimal digits. JSON keeps the parts of the text separate, even if they contain separators. */
export function workId({ origin, code, algorithm, digest }: Work): string {
  return fingerprintOf(JSON.stringify([origin, code, algorithm, digest]));
}

/** Returns the open call of a work, otherwise the latest one that counts. */
export function currentCall(db: Database, work: Work): Row | undefined {
  return db.get(
    `select * from calls where work = ? and state not in ('released', 'refused', 'forgotten', 'aside')
     order by state in ${OPEN_STATES} desc, id desc limit 1`,
    workId(work),
  );
}

/** Changes nothing, except that it records the end of runs that are gone. */
export function decide(me: Run, asking: Asking, mark = markOf(me.db, asking)): Decision {
  if (mark?.matches === 0) return { kind: 'mismatch', name: String(mark.call), isOfAll: true };
  const call = currentCall(me.db, asking.work);
  if (call === undefined) return { kind: 'claim' };
  const { state, run = null, settled } = call;
  const isOpen = state === 'claimed' || state === 'requested' || state === 'signed';
  const usable = isOpen ? undefined : usableCall(me, asking);
  if (usable !== undefined) return { kind: 'share', call: usable };
  switch (state) {
    case 'unknown':
      return { kind: Number(settled) > me.began ? 'just-unanswered' : 'claim' };
    case 'claimed':
    case 'requested':
      if (!isGone(me, run)) return { kind: 'wait', call, whom: inWords(me, run) };
      return { kind: 'claim', call, before: state === 'claimed' ? 'released' : 'unknown' };
    case 'closed':
      return isShared(me, call) && verifies(asking, call) ? { kind: 'share', call } : { kind: 'claim' };
    default:
      if (verifies(asking, call)) return { kind: 'share', call };
      // The certificate may have been renewed since these files were written.
      if (isWritten(me, call)) return state === 'signed' ? { kind: 'claim', call, before: 'aside' } : { kind: 'claim' };
      return { kind: 'mismatch', name: String(call.name), isOfAll: mark === undefined };
  }
}

/** Returns a signature that verifies and that is in no file yet or was recorded after this run began. */
function usableCall({ db, began }: Run, asking: Asking): Row | undefined {
  const sql = `select * from calls where work = ? and (state in ('surplus', 'unusable') or state = 'closed' and settled > ?)
    order by id desc`;
  return db.all(sql, workId(asking.work), began).find((call) => verifies(asking, call));
}

function verifies(asking: Asking, { signature }: Row): boolean {
  return asking.verifies(Buffer.from(String(signature), 'base64'));
}

export function isShared(me: Run, { id = null, settled }: Row): boolean {
  if (Number(settled) > me.began) return true;
  const sql = 'select 1 from files f join runs r on r.id = f.run where f.call = ? and r.well = 0 and r.began_at > ?';
  return me.db.get(sql, id, unendedSince(me)) !== undefined;
}

/** A file of a live run must not wait for the signature. */
function isWritten(me: Run, { id = null }: Row): boolean {
  if (me.db.get('select 1 from files where call = ? and written = 1', id) === undefined) return false;
  return waitingRuns(me.db, id).every((run) => isGone(me, run));
}

function waitingRuns(db: Database, call: Value): readonly Value[] {
  const sql = 'select distinct run from files where call = ? and written = 0 and given_up = 0';
  return db.all(sql, call).map(({ run = null }) => run);
}

export function claimWork(me: Run, asking: Asking, name: string): Claimed | undefined {
  const { db } = me;
  const mark = markOf(db, asking);
  let decision = decide(me, asking, mark);
  if (decision.kind !== 'claim') return undefined;
  const { call, before } = decision;
  if (call !== undefined && before !== undefined) settle(me, call.id ?? null, before);
  if (call !== undefined && before === 'released') {
    // Nothing was sent for the released call, so the previous call is the current one.
    db.run('update files set given_up = 1 where call = ?', call.id ?? null);
    decision = decide(me, asking, mark);
  }
  if (decision.kind !== 'claim' || (before === 'unknown' && usableCall(me, asking) !== undefined)) return undefined;
  const { work, metadata } = asking;
  const { origin, code, algorithm, digest } = work;
  const { file, bytes, certificate, client } = metadata;
  const row = db.get(
    `insert into calls (name, work, origin, code, algorithm, digest, run, state, at, file, bytes, certificate, leaf, client)
     values (?, ?, ?, ?, ?, ?, ?, 'claimed', ?, ?, ?, ?, ?, ?) returning id`,
    ...[name, workId(work), origin, code, algorithm, digest, me.id, me.now().getTime()],
    ...[file, bytes, certificate.name, certificate.sha256, client],
  );
  const sql = "select name from calls where work = ? and state = 'unknown'";
  const unknown = db.all(sql, workId(work));
  return {
    ...addFile(me, asking, { id: Number(row?.id), name }),
    unknownCalls: unknown.map((one) => String(one.name)),
    isProven: mark?.matches === 1,
  };
}

/** An owner that is still alive keeps the call. */
export function shareCall(me: Run, asking: Asking, call: Row): Part {
  const { state, run = null } = call;
  const { name, sha256 } = asking.metadata.certificate;
  const owner = state !== 'closed' && !isGone(me, run) ? run : me.id;
  // A file may now be written with this signature, so the failure report (2) is no longer due.
  const sql =
    "update calls set state = 'signed', run = ?, certificate = ?, leaf = ?, due = nullif(due, 2) where id = ?";
  me.db.run(sql, owner, name, sha256, call.id ?? null);
  const part = addFile(me, asking, call);
  prove(me.db, part, 1);
  return part;
}

export function markOf(db: Database, { work, metadata }: Asking): Row | undefined {
  const sql = 'select matches, call from proven where origin = ? and code = ? and leaf = ?';
  return db.get(sql, work.origin, work.code, metadata.certificate.sha256);
}

/** A certificate that has matched once stays proven, because one faulty answer must not stop a whole team. */
export function prove(db: Database, { work, metadata, name }: Part, matches: 0 | 1): void {
  db.run(
    `insert into proven values (?, ?, ?, ?, ?)
     on conflict do update set matches = 1, call = excluded.call where matches < excluded.matches`,
    ...[work.origin, work.code, metadata.certificate.sha256, matches, name],
  );
}

export function settle(
  { db, now }: Run,
  call: Value,
  state: string,
  where = 'true',
  ...values: readonly Value[]
): boolean {
  const sql = `update calls set state = ?, settled = ?, ended_at = ? where id = ? and ${where}`;
  return db.run(sql, state, nextNumber(db), now().getTime(), call, ...values) === 1;
}

/** Identifies a file of a call. */
export function placeOf({ file, signingOptions }: CallMetadata): string {
  const { path, output, inner } = signingOptions ?? {};
  return JSON.stringify(path === undefined ? [file] : [path, output, inner]);
}

function addFile(me: Run, asking: Asking, { id, name }: Row): Part {
  const { file, signingOptions: options } = asking.metadata;
  const recorded = options === undefined ? null : JSON.stringify(options);
  me.db.run(
    `insert into files (call, run, place, file, output, options, wants_report) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (call, place) do update set run = excluded.run, file = excluded.file, options = excluded.options,
       wants_report = excluded.wants_report, written = 0, given_up = 0, reason = null`,
    ...[Number(id), me.id, placeOf(asking.metadata), file, options?.output ?? null, recorded],
    options?.report === false ? 0 : 1,
  );
  return { ...asking, call: Number(id), name: String(name) };
}

/** A call that was repeated becomes `unknown`, whatever the result of its last attempt is. */
export function endWithout(me: Run, call: number, state: 'refused' | 'unknown' | 'released', failure?: Failure): void {
  const { reason = null, httpStatus = null, serviceCode = null } = failure ?? {};
  const isRepeated = me.db.get('select 1 from calls where id = ? and repeated = 1', call) !== undefined;
  const end = isRepeated ? 'unknown' : state;
  if (!settle(me, call, end, "run = ? and state in ('claimed', 'requested')", me.id)) return;
  const why = 'update calls set reason = ?, http_status = ?, service_code = ? where id = ?';
  me.db.run(why, reason, httpStatus, serviceCode, call);
  if (end !== 'unknown') me.db.run('update files set given_up = 1 where call = ?', call);
}

export function noteReport(me: Run, call: number, status: Reported): void {
  const { db } = me;
  if (status === 'not-wanted') db.run('update calls set due = null where id = ?', call);
  // If a success report (1) is due, it is sent after the failure report (2).
  else db.run('update calls set reported = ?, due = nullif(due, ?) where id = ?', status, status, call);
  // A file was written although its call had already been reported as failed.
  if (status === 2 && db.get('select 1 from files where call = ? and written = 1', call)) makeDue(me, call, 1);
  closeIfDone(me, call);
}

/** Returns true if this run must send the report: it has just become due, or its reporter is gone. */
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

export function closeIfDone(me: Run, call: number): 1 | 2 | undefined {
  const isDone = `state in ('signed', 'aside') and due is null
    and not exists (select 1 from files where call = calls.id and written = 0 and given_up = 0)`;
  const found = me.db.get(`select reported, ${isDone} as isDone from calls where id = ?`, call);
  if (found?.isDone === 1) settle(me, call, 'closed', isDone);
  const reported = found?.reported;
  return reported === 1 || reported === 2 ? reported : undefined;
}

export function handOver(me: Run): void {
  const sql = `select id, state from calls where run = ? and state in ${UNFINISHED_STATES}`;
  for (const { id = null, state } of me.db.all(sql, me.id)) {
    if (state === 'claimed') endWithout(me, Number(id), 'released');
    if (state === 'requested') endWithout(me, Number(id), 'unknown');
    if (state === 'signed') closeIfDone(me, Number(id));
    const heir = state === 'signed' && waitingRuns(me.db, id).find((run) => run !== me.id && !isGone(me, run));
    if (heir) me.db.run('update calls set run = ? where id = ?', heir, id);
  }
}

/** Forgets a call at the user's request. */
export function giveUp(me: Run, call: number, report: 1 | 2 | undefined): void {
  me.db.run('update files set given_up = 1 where call = ? and written = 0', call);
  me.db.run('update calls set due = ?, reporter = ? where id = ?', report ?? null, me.id, call);
  settle(me, call, 'forgotten');
}
