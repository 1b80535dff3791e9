/** Group commit: entries of all files that are ready share one transaction, and so one flush. */

import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { CodesignError } from '../errors/codesign-error.ts';
import type { Database } from './driver.ts';
import { hasSqliteCode } from './sqlite-codes.ts';

/** For another process to commit. */
const LONGEST_WAIT_MILLISECONDS = 60_000;
const SHORTEST_PAUSE_MILLISECONDS = 5;
const PAUSE_RANGE_MILLISECONDS = 10;
/** What nothing waits for joins the next commit, or has its own after this time. */
const LATER_MILLISECONDS = 5;

/**
 * `now`: flushed. `soon`: without a flush. `kept`: flushed; of what was paid, so it is tried again with each later commit. `later`:
 * tried again too, and nothing waits for it.
 */
export type Urgency = 'now' | 'soon' | 'kept' | 'later';

interface Entry {
  readonly urgency: Urgency;
  apply(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

export type Commits = ReturnType<typeof groupCommits>;

interface CommitsOptions {
  readonly db: Database;
  /** Only a log keeps the order of what is not flushed. */
  readonly hasLog: boolean;
  readonly uptime: () => number;
  /** Gives up the space that is kept for what was paid. */
  readonly makeRoom: () => void;
  /** After each COMMIT; `isPaid`: it had an entry of what was paid. */
  readonly onCommit: (isPaid: boolean) => void;
}

export function groupCommits({ db, hasLog, uptime, makeRoom, onCommit }: CommitsOptions) {
  const waiting: Entry[] = [];
  /** Entries of what was paid that could not be committed. */
  const failed = new Set<Entry>();
  let isWorking = false;
  let timer: NodeJS.Timeout | undefined;

  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    if (isWorking) return;
    isWorking = true;
    void work().finally(() => {
      isWorking = false;
      if (waiting.length > 0) start();
    });
  }

  async function work(): Promise<void> {
    while (waiting.length > 0) {
      // All that is ready in this turn of the event loop.
      await setImmediate();
      const entries = [...failed, ...waiting.splice(0)];
      if (await areCommitted(entries)) continue;
      // One after the other: what was paid first, and what fails takes nothing else with it.
      const isPaid = ({ urgency }: Entry): number => Number(urgency === 'kept');
      for (const entry of entries.sort((one, other) => isPaid(other) - isPaid(one))) await areCommitted([entry]);
    }
  }

  /** False if they could not be committed together, and each may be by itself. */
  async function areCommitted(entries: readonly Entry[]): Promise<boolean> {
    try {
      const outcomes = await transaction(entries);
      onCommit(entries.some(({ urgency }) => urgency === 'kept'));
      for (const [index, entry] of entries.entries()) tell(entry, outcomes[index]);
      return true;
    } catch (error) {
      if (entries.length > 1 && !hasSqliteCode(error, 'BUSY')) return false;
      const mayMakeRoom = entries.length === 1 && entries.some(isKept) && hasSqliteCode(error, 'FULL');
      if (mayMakeRoom && makeRoomOnce()) return await areCommitted(entries);
      for (const entry of entries) {
        if (isKept(entry)) failed.add(entry);
        entry.reject(error);
      }
      return true;
    }
  }

  /** In WAL mode `normal` leaves the flush to a later commit: what nothing depends on may be lost in a power cut. */
  async function transaction(entries: readonly Entry[]): Promise<readonly Outcome[]> {
    const isFlushed = !hasLog || entries.some(({ urgency }) => urgency === 'now' || urgency === 'kept');
    db.exec(isFlushed ? 'pragma synchronous = full' : 'pragma synchronous = normal');
    try {
      await retried(() => db.exec('begin immediate'));
      const outcomes = entries.map(outcomeOf);
      await retried(() => db.exec('commit'));
      return outcomes;
    } catch (error) {
      rollBack();
      throw error;
    }
  }

  function tell(entry: Entry, outcome: Outcome | undefined): void {
    failed.delete(entry);
    if (outcome !== undefined && 'value' in outcome) entry.resolve(outcome.value);
    else entry.reject(outcome?.error);
  }

  let hasRoom = true;
  function makeRoomOnce(): boolean {
    if (!hasRoom) return false;
    hasRoom = false;
    makeRoom();
    return true;
  }

  /** SQLite may have rolled back by itself. */
  function rollBack(): void {
    try {
      db.exec('rollback');
    } catch {
      // No transaction is active.
    }
  }

  async function retried(statement: () => void): Promise<void> {
    const began = uptime();
    for (;;) {
      try {
        return statement();
      } catch (thrown) {
        if (!hasSqliteCode(thrown, 'BUSY') || uptime() - began > LONGEST_WAIT_MILLISECONDS) throw thrown;
      }
      await sleep(SHORTEST_PAUSE_MILLISECONDS + Math.random() * PAUSE_RANGE_MILLISECONDS);
    }
  }

  return {
    /** `apply` changes rows and awaits nothing. Resolves with what it returns once that is committed. */
    add<T>(urgency: Urgency, apply: () => T): Promise<T> {
      return new Promise((resolve, reject) => {
        waiting.push({ urgency, apply, resolve: (value) => resolve(value as T), reject });
        if (urgency !== 'later') start();
        else timer ??= setTimeout(start, LATER_MILLISECONDS);
      });
    },
    /** Whether something that was paid is not in the journal. */
    hasFailed: (): boolean => failed.size > 0,
  };
}

function isKept({ urgency }: Entry): boolean {
  return urgency === 'kept' || urgency === 'later';
}

/** The error of one entry is the answer for that file alone. Throws what is no fault of the entry. */
function outcomeOf({ apply }: Entry): Outcome {
  try {
    return { value: apply() };
  } catch (error) {
    if (error instanceof CodesignError || hasSqliteCode(error, 'CONSTRAINT')) return { error };
    throw error;
  }
}
