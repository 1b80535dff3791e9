/** The steps of a call and of its files: each a function of rows, which names the state and the run that it expects. */

import { type Part, placeOf, prove, waitingRuns } from './claimant.ts';
import type { Value } from './driver.ts';
import { journalErrors, refusal } from './errors.ts';
import type { AfterFile, Failure, Reported, SignatureOnRecord } from './journal.ts';
import { giveSignOfLife, isGone, nextNumber, type Run } from './runs.ts';
import { OPEN_STATES, UNFINISHED_STATES } from './schema.ts';

const NOT_ENDED = 'exists (select 1 from runs where id = ? and ended is null)';

/** Also a sign of life: who watches this run sees nothing else for at least 130 s. Throws `claim-lost`. */
export function request(me: Run, call: number, repeated: boolean): void {
  const changed = me.db.run(
    `update calls set state = 'requested', sender = run, attempts = attempts + 1, repeated = max(repeated, ?)
     where id = ? and run = ? and (state = 'claimed' or state = 'requested' and max(repeated, ?) = 1) and ${NOT_ENDED}`,
    ...[Number(repeated), call, me.id, Number(repeated), me.id],
  );
  if (changed === 0) throw journalErrors('claim-lost');
  giveSignOfLife(me);
}

export function isRequested({ db, id }: Run, call: number): boolean {
  const sql = `select 1 from calls where id = ? and run = ? and state = 'requested' and ${NOT_ENDED}`;
  return db.get(sql, call, id, id) !== undefined;
}

/** What was repeated stays `requested`: the attempt before it may have been counted. */
export function defer({ db, id }: Run, call: number, failure?: Failure): void {
  const { httpStatus = null, serviceCode = null } = failure ?? {};
  db.run(
    `update calls set state = case repeated when 1 then state else 'claimed' end, http_status = ?, service_code = ?
     where id = ? and run = ? and state = 'requested'`,
    ...[httpStatus, serviceCode, call, id],
  );
}

/** Ends the claim without a signature. What was repeated is `unknown`, however the last attempt ended. */
export function endWithout(
  { db, id, now }: Run,
  call: number,
  state: 'refused' | 'unknown' | 'released',
  failure?: Failure,
): void {
  const { reason = null, httpStatus = null, serviceCode = null } = failure ?? {};
  const changed = db.run(
    `update calls set state = case repeated when 1 then 'unknown' else ? end, settled = ?, ended_at = ?, reason = ?,
       http_status = ?, service_code = ?
     where id = ? and run = ? and state in ('claimed', 'requested')`,
    ...[state, nextNumber(db), now().getTime(), reason, httpStatus, serviceCode, call, id],
  );
  if (changed === 0) return;
  db.run("update files set given_up = 1 where call = (select id from calls where id = ? and state <> 'unknown')", call);
}

/** A late answer is kept in any case. Throws if the row is gone: the signature stays in memory. */
export function sign(me: Run, part: Part, given: SignatureOnRecord): 'signed' | 'late' | 'surplus' {
  prove(me.db, part);
  if (keepSignature(me, part, given, 'signed', IN_TIME)) return 'signed';
  if (keepSignature(me, part, given, 'signed', ALONE)) return 'late';
  if (!keepSignature(me, part, given, 'surplus', LATE)) throw refusal('the call', 'is not in the journal any more');
  makeDue(me, part.id, 2);
  return 'surplus';
}

/** A triple that matched once is never marked: one faulty answer must not stop a team. */
export function keepUnusable(me: Run, part: Part, given: SignatureOnRecord, reason: string): void {
  if (!keepSignature(me, part, given, 'unusable', `(${IN_TIME} or ${LATE})`)) return;
  const { id, name, work, metadata } = part;
  me.db.run('update files set reason = ? where call = ?', reason, id);
  const sql = 'insert into proven values (?, ?, ?, 0, ?) on conflict do nothing';
  me.db.run(sql, work.origin, work.code, metadata.certificate.sha256, name);
  makeDue(me, id, 2);
}

/** When an answer comes: each in addition to the run that sent the request. */
const IN_TIME = "(state = 'requested' and run = sender)";
const ALONE = `state = 'unknown'
  and not exists (select 1 from calls o where o.work = calls.work and o.state in ${OPEN_STATES})`;
const LATE = "state in ('unknown', 'forgotten')";

function keepSignature(
  { db, id, now }: Run,
  { id: call }: Part,
  { signature, record = null }: { readonly signature: Uint8Array; readonly record?: string | null | undefined },
  state: string,
  when: string,
): boolean {
  const sql = `update calls set state = ?, run = ?, settled = ?, ended_at = ?, record = ?, signature = ?
    where id = ? and sender = ? and ${when}`;
  const text = Buffer.from(signature).toString('base64');
  return db.run(sql, state, id, nextNumber(db), now().getTime(), record, text, call, id) === 1;
}

/** Whatever else waits for the same output has nothing left to wait for. */
export function write(me: Run, { id, metadata }: Part, target: string, sha256: string | undefined): AfterFile {
  const place = placeOf(metadata);
  const sql = 'update files set written = 1, given_up = 0, reason = null, sha256 = ? where call = ? and place = ?';
  me.db.run(sql, sha256 ?? null, id, place);
  const output = metadata.signingOptions?.output ?? target;
  const others = 'update files set given_up = 1 where call = ? and place <> ? and written = 0 and output = ?';
  me.db.run(others, id, place, output);
  const reportDue = makeDue(me, id, 1) ? 1 : undefined;
  return { reportDue, reported: closeIfDone(me, id) };
}

/** `changed`: it was written with this signature before, by another run at the same file, so there is nothing left to do. */
export function failToWrite(me: Run, { id, metadata }: Part, reason: string, changed: boolean): AfterFile {
  const place = placeOf(metadata);
  if (changed) me.db.run('update files set written = 1 where call = ? and place = ? and sha256 is not null', id, place);
  me.db.run(
    `update files set reason = ?, given_up = max(given_up, ? and exists (
       select 1 from files o where o.call = files.call and o.output = files.output and o.written = 1))
     where call = ? and place = ? and written = 0`,
    ...[reason, Number(changed), id, place],
  );
  return { reportDue: undefined, reported: closeIfDone(me, id) };
}

export function noteReport(me: Run, call: number, status: Reported): void {
  const { db } = me;
  if (status === 'not-wanted') db.run('update calls set due = null where id = ?', call);
  // A 1 that is due comes after a 2.
  else db.run('update calls set reported = ?, due = nullif(due, ?) where id = ?', status, status, call);
  // A file was written while it was reported as failed.
  if (status === 2 && db.get('select 1 from files where call = ? and written = 1', call)) makeDue(me, call, 1);
  closeIfDone(me, call);
}

/** Whether a report is due that was not before, or that a run did not send which is gone: then this run sends it. */
function makeDue(me: Run, call: number, status: 1 | 2): boolean {
  const { db } = me;
  const sql = `update calls set due = ?, reporter = ? where id = ? and record is not null
    and coalesce(due, 0) <> ? and coalesce(reported, 0) <> ?
    and exists (select 1 from files where call = calls.id and wants_report = 1)`;
  if (db.run(sql, status, me.id, call, status, status) === 1) return true;
  const { due, reporter = null } = db.get('select due, reporter from calls where id = ?', call) ?? {};
  if (due !== status || !isGone(me, reporter)) return false;
  db.run('update calls set reporter = ? where id = ?', me.id, call);
  return true;
}

export function statusOf(value: Value | undefined): 1 | 2 | undefined {
  return value === 1 || value === 2 ? value : undefined;
}

/** Closes a call if all its files are written or given up, and no report is due. Returns what was reported last. */
function closeIfDone({ db, now }: Run, call: number): 1 | 2 | undefined {
  db.run(
    `update calls set state = 'closed', settled = ?, ended_at = ?
     where id = ? and state in ('signed', 'aside') and due is null
       and not exists (select 1 from files where call = calls.id and written = 0 and given_up = 0)`,
    ...[nextNumber(db), now().getTime(), call],
  );
  return statusOf(db.get('select reported from calls where id = ?', call)?.reported);
}

/** When a run ends: its calls go to live runs whose files wait for them. */
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

/** Given up by the user: its signature is not used any more. `report`: still to be sent, by this run or a later one. */
export function giveUp({ db, id, now }: Run, call: number, report: 1 | 2 | undefined): void {
  db.run('update files set given_up = 1 where call = ? and written = 0', call);
  const sql = "update calls set state = 'forgotten', due = ?, reporter = ?, settled = ?, ended_at = ? where id = ?";
  db.run(sql, report ?? null, id, nextNumber(db), now().getTime(), call);
}
