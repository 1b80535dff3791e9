import { threadId } from 'node:worker_threads';
import type { Database, Row, Value } from './driver.ts';
import type { Holder, Processes } from './processes.ts';

/** How long a run whose process is not visible may be silent by its row. */
const PRESUMED_GONE_MILLISECONDS = 15 * 60 * 1000;
/**
 * How long it may be silent by the clock of this process. After a suspension of the machine or a change of its time,
 * the rows of live runs look old until their timers fire again.
 */
export const WATCHED_MILLISECONDS = 130 * 1000;
export const SIGN_OF_LIFE_MILLISECONDS = 60 * 1000;
/** After this time, other runs no longer use the finished calls of a run whose success was not recorded. */
const UNENDED_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;

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

/** Tokens of the runs in this thread, from all copies of this module (library and hook). */
function runsHere(): Set<string> {
  const shared = globalThis as { [key: symbol]: Set<string> | undefined };
  const key = Symbol.for('codesign-remote.runs');
  shared[key] ??= new Set<string>();
  return shared[key];
}

export function nextNumber(db: Database): number {
  return Number(db.get('update counter set value = value + 1 returning value')?.value);
}

/** Calls that were settled after `since`, while the program was loading, are treated as settled during this run. */
export function beginRun(observer: Observer, token: string, since: number): Run {
  const { db, now, processes } = observer;
  const { host, boot = null, space = null, pid, started = null } = processes.self;
  const at = now().getTime();
  const number = nextNumber(db);
  const recent = '(select settled, ended_at from calls order by id desc limit 1000)';
  const sql = `select min(settled) as first from ${recent} where ended_at > ? and ended_at <= ?`;
  const began = Math.min(number, Number(db.get(sql, since, at)?.first ?? number) - 1);
  const row = db.get(
    `insert into runs (token, host, boot, space, pid, started, thread, began, began_at, active_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id`,
    ...[token, host, boot, space, pid, started, threadId, began, at, at],
  );
  runsHere().add(token);
  return { ...observer, id: Number(row?.id), began, watch: new Map() };
}

/** Changes nothing if another process has already presumed that the run is dead. */
export function giveSignOfLife({ db, id, now }: Run): void {
  db.run('update runs set active_at = ? where id = ? and ended is null', now().getTime(), id);
}

/** Must run in a transaction, because this function also records the end of a dead run. */
export function isGone(me: Run, id: Value): boolean {
  const row = runOf(me, id);
  if (row === undefined) return true;
  if (id === me.id || !looksGone(row, me)) return false;
  endRun(me.db, id);
  return true;
}

function runOf({ db }: Observer, id: Value): Row | undefined {
  return db.get('select * from runs where id = ? and ended is null', id);
}

function looksGone(row: Row, me: Run): boolean {
  const seen = seenAlive(row, me);
  if (seen !== undefined) return !seen;
  const { id, active_at: active = null } = row;
  const watched = me.watch.get(Number(id));
  const since = watched?.active === active ? watched.since : me.uptime();
  me.watch.set(Number(id), { active, since });
  return isSilent(row, me) && me.uptime() - since > WATCHED_MILLISECONDS;
}

/** Checks each run only once, and does not watch it over a period of time. */
export function liveRuns(observer: Observer): readonly Value[] {
  const rows = observer.db.all('select * from runs where ended is null');
  return rows.filter((row) => seenAlive(row, observer) ?? !isSilent(row, observer)).map(({ id = null }) => id);
}

function isSilent({ active_at }: Row, { now }: Observer): boolean {
  // If a clock was set back, that must not keep a run alive forever.
  return Math.abs(now().getTime() - Number(active_at)) > PRESUMED_GONE_MILLISECONDS;
}

/** Returns undefined if the process is not visible from here. */
function seenAlive({ token, thread, ...row }: Row, { processes }: Observer): boolean | undefined {
  const holder = holderOf(row);
  const { self, isRunning } = processes;
  const parts = ['host', 'boot', 'space', 'pid', 'started'] as const;
  if (parts.some((part) => holder[part] !== self[part])) return isRunning(holder);
  return thread === threadId ? runsHere().has(String(token)) : undefined;
}

function holderOf({ host, boot, space, pid, started }: Row): Holder {
  const text = (value: Value | undefined) => (typeof value === 'string' ? value : undefined);
  return { host: String(host), boot: text(boot), space: text(space), pid: Number(pid), started: text(started) };
}

export function inWords(me: Run, id: Value): string {
  const row = runOf(me, id);
  if (row === undefined || id === me.id) return 'another file of this run';
  const { host, pid } = row;
  return host === me.processes.self.host ? `process ${pid}` : `process ${pid} on ${host}`;
}

export function unendedSince({ now }: Observer): number {
  return now().getTime() - UNENDED_MILLISECONDS;
}

/** The unfinished calls of the run may then be taken over. */
export function endRun(db: Database, id: Value): void {
  db.run('update runs set ended = ? where id = ? and ended is null', nextNumber(db), id);
}

export function forgetToken(token: string): void {
  runsHere().delete(token);
}

/** Looks at a bounded number of the oldest calls. `before`: latest end of a call that is removed. */
export function removeOld(me: Run, before: number): void {
  const { db } = me;
  const since = unendedSince(me);
  // A run that was killed could not record its end.
  for (const { id = null } of db.all('select id from runs where ended is null')) isGone(me, id);
  db.run(
    `delete from calls where id in (
       select id from (
         select * from calls where state in ('closed', 'released', 'refused', 'forgotten') order by id limit 500) c
       where (state = 'released' or ended_at < ?) and due is null
         and settled < (select coalesce(min(began), c.settled + 1) from runs where ended is null and active_at > ?)
         and not exists (select 1 from files f join runs r on r.id = f.run
           where f.call = c.id and c.state = 'closed' and r.well = 0 and r.began_at > ?))`,
    ...[before, since, since],
  );
  // A run without a database row is treated as ended.
  db.run('delete from runs where ended is not null and began_at < ?', Math.min(before, since));
}
