/** Group commit: entries of all files that are ready share one transaction, and so one flush. */

import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { CodesignError } from '../errors/codesign-error.ts';
import { type Database, hasSqliteCode } from './driver.ts';

/** For another process to commit. */
const LONGEST_WAIT_MILLISECONDS = 60_000;
const SHORTEST_PAUSE_MILLISECONDS = 5;
const PAUSE_RANGE_MILLISECONDS = 10;
/** What nothing waits for joins the next commit, or has its own after this time. */
const LATER_MILLISECONDS = 5;

/** `kept`: of what was paid; tried again with each later commit. `later`: kept too, and nothing waits for it. */
export type Urgency = 'now' | 'kept' | 'later';

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
  readonly uptime: () => number;
  /** Gives up the space that is kept for what was paid. */
  readonly makeRoom: () => void;
  /** After each COMMIT; `isPaid`: it had an entry of what was paid. */
  readonly onCommit: (isPaid: boolean) => void;
}

export function groupCommits({ db, uptime, makeRoom, onCommit }: CommitsOptions) {
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
    // All that is ready in this turn of the event loop.
    await setImmediate();
    while (waiting.length > 0) {
      const taken = await committed(() => [...failed, ...waiting.splice(0)]);
      if (taken === undefined) continue;
      // One after the other: what was paid first, and what fails takes nothing else with it.
      for (const entry of taken.sort(
        (one, other) => Number(other.urgency === 'kept') - Number(one.urgency === 'kept'),
      )) {
        await committed(() => [entry]);
      }
    }
  }

  /** Returns the entries if they could not be committed together, and each may be by itself. */
  async function committed(take: () => Entry[]): Promise<Entry[] | undefined> {
    let entries: Entry[] = [];
    try {
      await retried(() => db.exec('begin immediate'));
      entries = take();
      const outcomes = entries.map(outcomeOf);
      await retried(() => db.exec('commit'));
      onCommit(entries.some(({ urgency }) => urgency === 'kept'));
      for (const [index, entry] of entries.entries()) tell(entry, outcomes[index]);
      return undefined;
    } catch (error) {
      rollBack();
      if (entries.length === 0) entries = take();
      const [only] = entries;
      if (entries.length > 1 && !hasSqliteCode(error, 'BUSY')) return entries;
      if (only !== undefined && only.urgency !== 'now' && hasSqliteCode(error, 'FULL') && makeRoomOnce()) {
        return await committed(() => [only]);
      }
      for (const entry of entries) {
        if (entry.urgency !== 'now') failed.add(entry);
        entry.reject(error);
      }
      return undefined;
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

/** The error of one entry is the answer for that file alone. Throws what is no fault of the entry. */
function outcomeOf({ apply }: Entry): Outcome {
  try {
    return { value: apply() };
  } catch (error) {
    if (error instanceof CodesignError || hasSqliteCode(error, 'CONSTRAINT')) return { error };
    throw error;
  }
}
