/** Runs: their beginning, their signs of life, and when one counts as gone. */

import { threadId } from 'node:worker_threads';
import type { Database, Row, Value } from './driver.ts';
import type { Holder, Processes } from './processes.ts';

/** Of a run that cannot be seen from here: without a sign of life for so long by its row, and by this process's own watch. */
const PRESUMED_GONE_MILLISECONDS = 15 * 60 * 1000;
export const WATCHED_MILLISECONDS = 130 * 1000;
export const SIGN_OF_LIFE_MILLISECONDS = 60 * 1000;
/** After a good end is missing for so long, what the run finished is not shared any more. */
const UNENDED_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;

export interface RunOptions {
  /** The state folder. */
  readonly folder: string;
  readonly now: () => Date;
  /** Milliseconds that never go back. */
  readonly uptime: () => number;
  readonly processes: Processes;
  /** Whether other machines may use the database too, perhaps of the same name. */
  readonly isShared?: boolean | undefined;
}

/** One run, and what it knows about others. All but `watch` is in the rows. */
export interface Run extends RunOptions {
  readonly id: number;
  /** Number at which it began. */
  readonly began: number;
  /** Runs that cannot be seen from here: their last sign of life, and since when it is unchanged. */
  readonly watch: Map<number, { readonly beat: Value; readonly since: number }>;
}

/** Tokens and folders of the runs of this thread, whichever copy of this module (library, hook) opened them. */
function runsHere(): Map<string, string> {
  const shared = globalThis as { [key: symbol]: Map<string, string> | undefined };
  const key = Symbol.for('codesign-remote.runs');
  const runs = shared[key] ?? new Map<string, string>();
  shared[key] = runs;
  return runs;
}

/** The next number in the order of all events. */
export function nextNumber(db: Database): number {
  db.run('update counter set value = value + 1');
  return Number(db.get('select value from counter')?.value);
}

/** `since`: calls that were settled after this time count as settled during the run, which was being loaded by then. */
export function beginRun(db: Database, token: string, since: number, options: RunOptions): Run {
  const { now, processes } = options;
  const { host, boot = null, space = null, pid, started = null } = processes.self;
  const at = now().getTime();
  const number = nextNumber(db);
  const recent = '(select settled, ended_at from calls order by id desc limit 1000)';
  const sql = `select min(settled) as first from ${recent} where ended_at > ? and ended_at <= ?`;
  const first = db.get(sql, since, at)?.first;
  const began = Math.min(number, Number(first ?? number) - 1);
  db.run(
    `insert into runs (token, host, boot, space, pid, started, thread, began, began_at, beat, beat_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
    ...[token, host, boot, space, pid, started, threadId, began, at, at],
  );
  const id = Number(db.get('select last_insert_rowid() as id')?.id);
  runsHere().set(token, options.folder);
  return { ...options, id, began, watch: new Map() };
}

/** False if another process has taken the run for gone. */
export function giveSignOfLife(db: Database, { id, now }: Run): boolean {
  const sql = 'update runs set beat = beat + 1, beat_at = ? where id = ? and ended is null';
  return db.run(sql, now().getTime(), id) === 1;
}

/** Whether a run is gone. In a transaction: its end is set. */
export function isGone(db: Database, me: Run, id: Value): boolean {
  const row = db.get('select * from runs where id = ?', id);
  if (row === undefined || row.ended !== null) return true;
  if (row.id === me.id || !looksGone(row, me)) return false;
  db.run('update runs set ended = ? where id = ? and ended is null', nextNumber(db), id);
  return true;
}

function looksGone(row: Row, me: Run): boolean {
  const seen = seenAlive(row, me);
  if (seen !== undefined) return !seen;
  const { id, beat = null } = row;
  const watched = me.watch.get(Number(id));
  const since = watched?.beat === beat ? watched.since : me.uptime();
  me.watch.set(Number(id), { beat, since });
  return isSilent(row, me) && me.uptime() - since > WATCHED_MILLISECONDS;
}

/** For a list, which watches nothing. */
export function isProbablyGone(db: Database, id: Value, options: RunOptions): boolean {
  const row = db.get('select * from runs where id = ?', id);
  if (row === undefined || row.ended !== null) return true;
  return !(seenAlive(row, options) ?? !isSilent(row, options));
}

function isSilent({ beat_at }: Row, { now }: RunOptions): boolean {
  // A clock that was set back must not keep it alive without end.
  return Math.abs(now().getTime() - Number(beat_at)) > PRESUMED_GONE_MILLISECONDS;
}

/** Undefined if it cannot be seen from here. */
function seenAlive({ token, thread, ...row }: Row, { processes, isShared }: RunOptions): boolean | undefined {
  const holder = holderOf(row);
  const { self } = processes;
  if (isShared && holder.boot !== self.boot) return undefined;
  const isThisProcess = holder.pid === self.pid && holder.started === self.started && holder.space === self.space;
  if (!isThisProcess || holder.host !== self.host || holder.boot !== self.boot) return processes.isRunning(holder);
  return thread === threadId ? runsHere().has(String(token)) : undefined;
}

export function holderOf({ host, boot, space, pid, started }: Row): Holder {
  const text = (value: Value | undefined) => (typeof value === 'string' ? value : undefined);
  return { host: String(host), boot: text(boot), space: text(space), pid: Number(pid), started: text(started) };
}

/** The run in words, for a file that waits for it. */
export function inWords(db: Database, id: Value, me: Run): string {
  const row = db.get('select * from runs where id = ?', id);
  if (row === undefined || row.id === me.id) return 'another file of this run';
  const { host, pid } = holderOf(row);
  return host === me.processes.self.host ? `process ${pid}` : `process ${pid} on ${host}`;
}

/** The earliest beginning of a run whose missing good end still counts. */
export function unendedSince(now: Date): number {
  return now.getTime() - UNENDED_MILLISECONDS;
}

/** Ends the run. The token stays unknown from then on: what it left is another run's. */
export function endRun(db: Database, { id }: Run): void {
  db.run('update runs set ended = ? where id = ? and ended is null', nextNumber(db), id);
}

/** Whether a run of this thread has the database open. */
export function hasRunIn(folder: string): boolean {
  return [...runsHere().values()].includes(folder);
}

export function forgetToken(token: string): void {
  runsHere().delete(token);
}

/** Removes what is over and nothing needs any more: of the oldest calls, so that it takes no time. `before`: their end. */
export function removeOld(db: Database, me: Run, before: number): void {
  const { now } = me;
  const since = unendedSince(now());
  // One that was killed has no end.
  for (const { id = null } of db.all('select id from runs where ended is null')) isGone(db, me, id);
  db.run(
    `delete from calls where id in (
       select id from (select * from calls order by id limit 500) c
       where state in ('closed', 'released', 'refused', 'forgotten') and (state = 'released' or ended_at < ?)
         and settled < (select coalesce(min(began), c.settled + 1) from runs where ended is null and beat_at > ?)
         and not exists (select 1 from files f join runs r on r.id = f.run
           where f.call = c.id and c.state = 'closed' and r.well = 0 and r.began_at > ?))`,
    ...[before, since, since],
  );
  // A run that is not there is gone.
  db.run('delete from runs where ended is not null and began_at < ?', Math.min(before, since));
}
