/** The steps of a call and of its files: each a function of rows, which names the state and the run that it expects. */

import { placeOf, prove, waitingRuns } from './claimant.ts';
import type { Database, Value } from './driver.ts';
import { journalErrors } from './errors.ts';
import type { AfterFile, CallMetadata, Failure, Reported, SignatureOnRecord, Work } from './journal.ts';
import { isGone, nextNumber, type Run } from './runs.ts';
import { OPEN_STATES, UNFINISHED_STATES } from './schema.ts';

const NOT_ENDED = 'exists (select 1 from runs where id = ? and ended is null)';

/** Also a sign of life: who watches this run sees nothing else for at least 130 s. Throws `claim-lost`. */
export function request(db: Database, me: Run, call: number, repeated: boolean): void {
  const changed = db.run(
    `update calls set state = 'requested', sender = run, attempts = attempts + 1, repeated = max(repeated, ?)
     where id = ? and run = ? and (state = 'claimed' or state = 'requested' and max(repeated, ?) = 1) and ${NOT_ENDED}`,
    ...[Number(repeated), call, me.id, Number(repeated), me.id],
  );
  if (changed === 0) throw journalErrors('claim-lost');
  db.run('update runs set beat = beat + 1, beat_at = ? where id = ?', me.now().getTime(), me.id);
}

export function isRequested(db: Database, me: Run, call: number): boolean {
  const sql = `select 1 from calls where id = ? and run = ? and state = 'requested' and ${NOT_ENDED}`;
  return db.get(sql, call, me.id, me.id) !== undefined;
}

/** What was repeated stays `requested`: the attempt before it may have been counted. */
export function defer(db: Database, me: Run, call: number, failure: Failure | undefined): void {
  db.run(
    `update calls set state = case repeated when 1 then state else 'claimed' end, http_status = ?, service_code = ?
     where id = ? and run = ? and state = 'requested'`,
    ...[failure?.httpStatus ?? null, failure?.serviceCode ?? null, call, me.id],
  );
}

/** Ends the claim without a signature. What was repeated is `unknown`, however the last attempt ended. */
export function endWithout(
  db: Database,
  me: Run,
  call: number,
  state: 'refused' | 'unknown' | 'released',
  failure?: Failure,
): void {
  const { reason = null, httpStatus = null, serviceCode = null } = failure ?? {};
  const changed = db.run(
    `update calls set state = case repeated when 1 then 'unknown' else ? end, settled = ?, ended_at = ?, reason = ?,
       http_status = ?, service_code = ?
     where id = ? and run = ? and state in ('claimed', 'requested')`,
    ...[state, nextNumber(db), me.now().getTime(), reason, httpStatus, serviceCode, call, me.id],
  );
  if (changed === 0) return;
  db.run("update files set given_up = 1 where call = (select id from calls where id = ? and state <> 'unknown')", call);
}

export interface Signed extends SignatureOnRecord {
  readonly call: number;
  readonly name: string;
  readonly work: Work;
  readonly metadata: CallMetadata;
}

/** A late answer is kept in any case. Throws if the row is gone: the signature stays in memory. */
export function sign(db: Database, me: Run, signed: Signed): 'signed' | 'late' | 'surplus' {
  prove(db, signed.work, signed.metadata, signed.name);
  if (keepSignature(db, me, signed, 'signed', IN_TIME)) return 'signed';
  if (keepSignature(db, me, signed, 'signed', ALONE)) return 'late';
  if (!keepSignature(db, me, signed, 'surplus', LATE)) {
    throw Object.assign(new Error('the call is not in the journal any more'), { code: 'REFUSED' });
  }
  makeDue(db, me, signed.call, 2);
  return 'surplus';
}

/** A triple that matched once is never marked: one faulty answer must not stop a team. */
export function keepUnusable(db: Database, me: Run, signed: Signed, reason: string): void {
  if (!keepSignature(db, me, signed, 'unusable', IN_TIME) && !keepSignature(db, me, signed, 'unusable', LATE)) return;
  const { origin, code } = signed.work;
  db.run('update files set reason = ? where call = ?', reason, signed.call);
  const sql = 'insert into proven values (?, ?, ?, 0, ?) on conflict do nothing';
  db.run(sql, origin, code, signed.metadata.certificate.sha256, signed.name);
  makeDue(db, me, signed.call, 2);
}

/** Statements name the run that sent the request. */
const KEEP =
  'update calls set state = ?, run = ?, settled = ?, ended_at = ?, record = ?, signature = ? where id = ? and sender = ? and';
const IN_TIME = `${KEEP} state = 'requested' and run = sender`;
const ALONE = `${KEEP} state = 'unknown'
  and not exists (select 1 from calls o where o.work = calls.work and o.state in ${OPEN_STATES})`;
const LATE = `${KEEP} state in ('unknown', 'forgotten')`;

function keepSignature(
  db: Database,
  me: Run,
  { call, signature, record }: Signed,
  state: string,
  sql: string,
): boolean {
  const text = Buffer.from(signature).toString('base64');
  return db.run(sql, state, me.id, nextNumber(db), me.now().getTime(), record ?? null, text, call, me.id) === 1;
}

export function stamp(db: Database, call: number, token: Uint8Array): void {
  db.run('update calls set token = ? where id = ?', Buffer.from(token).toString('base64'), call);
}

/** Whatever else waits for the same output has nothing left to wait for. */
export function write(
  db: Database,
  me: Run,
  call: number,
  metadata: CallMetadata,
  target: string,
  sha256: string | undefined,
): AfterFile {
  const place = placeOf(metadata);
  const sql = 'update files set written = 1, given_up = 0, reason = null, sha256 = ? where call = ? and place = ?';
  db.run(sql, sha256 ?? null, call, place);
  const output = metadata.signingOptions?.output ?? target;
  const others = 'update files set given_up = 1 where call = ? and place <> ? and written = 0 and output = ?';
  db.run(others, call, place, output);
  const reportDue = makeDue(db, me, call, 1) ? 1 : undefined;
  closeIfDone(db, me, call);
  return { reportDue, reported: reportedOf(db, call) };
}

export function failToWrite(
  db: Database,
  me: Run,
  call: number,
  metadata: CallMetadata,
  reason: string,
  changed: boolean,
): AfterFile {
  // It was written with this signature before, by another run at the same file: there is nothing left to do.
  if (changed)
    db.run('update files set written = 1 where call = ? and place = ? and sha256 is not null', call, placeOf(metadata));
  db.run(
    `update files set reason = ?, given_up = max(given_up, ? and exists (
       select 1 from files o where o.call = files.call and o.output = files.output and o.written = 1))
     where call = ? and place = ? and written = 0`,
    ...[reason, Number(changed), call, placeOf(metadata)],
  );
  closeIfDone(db, me, call);
  return { reportDue: undefined, reported: reportedOf(db, call) };
}

export function noteReport(db: Database, me: Run, call: number, status: Reported): void {
  if (status === 'not-wanted') db.run('update calls set due = null where id = ?', call);
  // A 1 that is due comes after a 2.
  else db.run('update calls set reported = ?, due = nullif(due, ?) where id = ?', status, status, call);
  // A file was written while it was reported as failed.
  if (status === 2 && db.get('select 1 from files where call = ? and written = 1', call)) makeDue(db, me, call, 1);
  closeIfDone(db, me, call);
}

/** Whether a report is due that was not before, or that a run did not send which is gone: then this run sends it. */
function makeDue(db: Database, me: Run, call: number, status: 1 | 2): boolean {
  const sql = `update calls set due = ?, reporter = ? where id = ? and record is not null
    and coalesce(due, 0) <> ? and coalesce(reported, 0) <> ?
    and exists (select 1 from files where call = calls.id and wants_report = 1)`;
  if (db.run(sql, status, me.id, call, status, status) === 1) return true;
  const { due, reporter = null } = db.get('select due, reporter from calls where id = ?', call) ?? {};
  if (due !== status || !isGone(db, me, reporter)) return false;
  db.run('update calls set reporter = ? where id = ?', me.id, call);
  return true;
}

/** What was reported last. */
export function reportedOf(db: Database, call: number): 1 | 2 | undefined {
  return statusOf(db.get('select reported from calls where id = ?', call)?.reported);
}

export function statusOf(value: Value | undefined): 1 | 2 | undefined {
  return value === 1 || value === 2 ? value : undefined;
}

/** All files are written or given up, and no report is due. */
function closeIfDone(db: Database, me: Run, call: number): void {
  if (waitingRuns(db, call).length > 0) return;
  const sql = `update calls set state = 'closed', settled = ?, ended_at = ?
    where id = ? and state in ('signed', 'aside') and due is null`;
  db.run(sql, nextNumber(db), me.now().getTime(), call);
}

/** When a run ends: its calls go to live runs whose files wait for them. */
export function handOver(db: Database, me: Run): void {
  const sql = `select id, state from calls where run = ? and state in ${UNFINISHED_STATES}`;
  for (const { id = null, state } of db.all(sql, me.id)) {
    if (state === 'claimed') endWithout(db, me, Number(id), 'released');
    if (state === 'requested') endWithout(db, me, Number(id), 'unknown');
    if (state === 'signed') closeIfDone(db, me, Number(id));
    const heir = state === 'signed' && waitingRuns(db, id).find((run) => run !== me.id && !isGone(db, me, run));
    if (heir) db.run('update calls set run = ? where id = ?', heir, id);
  }
}

/** Given up by the user: its signature is not used any more. */
export function giveUp(db: Database, me: Run, call: number, reported: Reported | undefined): void {
  if (reported !== undefined) noteReport(db, me, call, reported);
  db.run('update files set given_up = 1 where call = ? and written = 0', call);
  const sql = "update calls set state = 'forgotten', due = null, settled = ?, ended_at = ? where id = ?";
  db.run(sql, nextNumber(db), me.now().getTime(), call);
}
