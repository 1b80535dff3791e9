import type { Database, Row, Value } from './driver.ts';
import type { Holder, Processes } from './processes.ts';

/** How long a run whose process is not visible may record no activity in its row. */
const PRESUMED_GONE_MILLISECONDS = 15 * 60 * 1000;
/**
 * How long such a run may record no activity, measured by the clock of this process. After a suspension of the machine
 * or a change of its time, the rows of live runs look old until their timers fire again.
 */
export const WATCHED_MILLISECONDS = 130 * 1000;
export const SIGN_OF_LIFE_MILLISECONDS = 60 * 1000;
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
/** After this time, other runs no longer use the finished calls of a run whose success was not recorded. */
const UNENDED_MILLISECONDS = 7 * DAY_MILLISECONDS;

export interface Observer {
  readonly db: Database;
  readonly folder: string;
  readonly now: () => Date;
  readonly uptime: () => number;
  readonly processes: Processes;
}

/** The database stores all members except `watch`. */
export interface Run extends Observer {
  readonly id: number;
  readonly began: number;
  /** Last activity of each run whose process is not visible, and when this process first saw it. */
  readonly watch: Map<number, { readonly active: Value; readonly since: number }>;
}

export function nextNumber(db: Database): number {
  return Number(db.get('update counter set value = value + 1 returning value')?.value);
}

/** Calls that were settled after `since`, while the program was loading, are treated as settled during this run. */
export function beginRun(observer: Observer, since: number): Run {
  const { db, now, processes } = observer;
  const at = now().getTime();
  const recent = '(select settled, ended_at from calls order by id desc limit 1000)';
  const sql = `select min(settled) - 1 as number from ${recent} where ended_at > ? and ended_at <= ?`;
  const began = Math.min(nextNumber(db), Number(db.get(sql, since, at)?.number ?? Number.POSITIVE_INFINITY));
  const inserting = 'insert into runs (holder, began, began_at, active_at) values (?, ?, ?, ?) returning id';
  const row = db.get(inserting, JSON.stringify(processes.self), began, at, at);
  return { ...observer, id: Number(row?.id), began, watch: new Map() };
}

/** Changes nothing if another process has already presumed that the run is dead. */
export function giveSignOfLife({ db, id, now }: Run): void {
  db.run('update runs set active_at = ? where id = ? and ended is null', now().getTime(), id);
}

/** This function must run in a transaction, because it also records the end of a dead run. */
export function isGone(me: Run, id: Value): boolean {
  const row = runOf(me, id);
  if (row === undefined) return true;
  if (id === me.id || isAlive(row, me)) return false;
  endRun(me.db, id);
  return true;
}

function runOf({ db }: Observer, id: Value): Row | undefined {
  return db.get('select * from runs where id = ? and ended is null', id);
}

function isAlive(row: Row, me: Run): boolean {
  const seen = isRunning(row, me);
  if (seen !== undefined) return seen;
  const { id, active_at: active = null } = row;
  const watched = me.watch.get(Number(id));
  const since = watched?.active === active ? watched.since : me.uptime();
  me.watch.set(Number(id), { active, since });
  return !isSilent(row, me) || me.uptime() - since <= WATCHED_MILLISECONDS;
}

/** Checks each run only once, and does not watch it over a period of time. */
export function liveRuns(observer: Observer): readonly Value[] {
  const rows = observer.db.all('select * from runs where ended is null');
  const live = rows.filter((row) => isRunning(row, observer) ?? !isSilent(row, observer));
  return live.map(({ id = null }) => id);
}

/** Undefined if unknown: a worker thread of this process may have been terminated during its run. */
function isRunning(row: Row, { processes }: Observer): boolean | undefined {
  const holder = holderOf(row);
  const isSeen = processes.isRunning(holder);
  return isSeen && holder.pid === processes.self.pid ? undefined : isSeen;
}

function isSilent({ active_at }: Row, { now }: Observer): boolean {
  // A clock that was set back must not keep a run alive forever.
  return Math.abs(now().getTime() - Number(active_at)) > PRESUMED_GONE_MILLISECONDS;
}

function holderOf({ holder }: Row): Holder {
  return JSON.parse(String(holder)) as Holder;
}

export function inWords(me: Run, id: Value): string {
  const row = runOf(me, id);
  if (row === undefined || id === me.id) return 'another file in this run';
  const { host, pid } = holderOf(row);
  return host === me.processes.self.host ? `process ${pid}` : `process ${pid} on ${host}`;
}

export function unendedSince({ now }: Observer): number {
  return now().getTime() - UNENDED_MILLISECONDS;
}

/** The unfinished calls of the run may then be taken over. */
export function endRun(db: Database, id: Value): void {
  db.run('update runs set ended = 1 where id = ? and ended is null', id);
}

/** Looks at a bounded number of the oldest calls. The calls of the last week may still be shared. */
export function removeOld({ db, now }: Run, keepDays: number): void {
  const before = now().getTime() - Math.max(keepDays * DAY_MILLISECONDS, 2 * UNENDED_MILLISECONDS);
  const finished = "state in ('closed', 'released', 'refused', 'forgotten')";
  db.run(
    `delete from calls where id in (
       select id from (select * from calls where ${finished} order by id limit 500) where due is null and ended_at < ?)`,
    before,
  );
  // A live run records its activity every minute. A run without a database row is treated as ended.
  db.run('delete from runs where active_at < ?', before);
}
