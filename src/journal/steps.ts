import { settle, waitingRuns } from './claimant.ts';
import type { Failure, Reported } from './journal.ts';
import { isGone, type Run } from './runs.ts';
import { UNFINISHED_STATES } from './schema.ts';

/**
 * Ends a claim for which there is no signature. A call that was retried becomes `unknown`, whatever the result of its
 * last attempt is.
 */
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

/**
 * Returns true if this run must send the report: it has just become due, or the run that should have sent it is dead.
 */
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

/** Forgets a call at the user's request. `report`: the status that has not been sent yet. */
export function giveUp(me: Run, call: number, report: 1 | 2 | undefined): void {
  me.db.run('update files set given_up = 1 where call = ? and written = 0', call);
  me.db.run('update calls set due = ?, reporter = ? where id = ?', report ?? null, me.id, call);
  settle(me, call, 'forgotten');
}
