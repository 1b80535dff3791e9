/** Group commit: the entries of all files of a run that are ready are written in one transaction with one flush. */

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { CodesignError } from '../errors/codesign-error.ts';
import { type Claimed, workId } from './claimant.ts';
import { rollBack } from './driver.ts';
import { asJournalError, hasSqliteCode, journalErrors, journalWarnings } from './errors.ts';
import type { KnownCall, Work } from './journal.ts';
import { giveUpSpace, identityOf } from './place.ts';
import type { Run } from './runs.ts';

const LONGEST_WAIT_MILLISECONDS = 60_000;
const SHORTEST_PAUSE_MILLISECONDS = 5;
const PAUSE_RANGE_MILLISECONDS = 10;
/**
 * If nothing waits for an entry, it joins the next commit. After this time without a commit, the entry is committed
 * alone.
 */
const LATER_MILLISECONDS = 5;

/**
 * `now` flushes the commit to disk; `soon` does not. `kept` is for paid signatures: it flushes the commit to disk, and
 * each later commit tries again if that fails. `later` is also tried again, but nothing waits for it.
 */
export type Urgency = 'now' | 'soon' | 'kept' | 'later';

interface Entry {
  readonly urgency: Urgency;
  apply(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** A signature that could not be committed. */
export interface Unrecorded extends Claimed {
  readonly given: KnownCall['known'];
  readonly reason: string;
}

export type Session = ReturnType<typeof sessionOf>;

/** The state that is common to the files of a run. */
export function sessionOf(run: Run) {
  const { db, folder, uptime } = run;
  const identity = identityOf(folder);
  const warnings: string[] = [];
  const waiting: Entry[] = [];
  const failed = new Set<Entry>();
  const inMemory = new Map<string, Unrecorded>();
  /** Wakes the files that wait for a change in the journal; undefined if none waits, because an abort is slow. */
  let woken: AbortController | undefined;
  let isWorking = false;
  /** The current `synchronous` mode of the connection; undefined before the first commit. */
  let synchronous: string | undefined;
  let hasSpace = true;
  let timer: NodeJS.Timeout | undefined;
  let problem: string | undefined;

  async function work(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (isWorking) return;
    isWorking = true;
    while (waiting.length > 0) {
      // Wait for all entries that become ready in this turn of the event loop.
      await nextTurn();
      await commit([...failed, ...waiting.splice(0)]);
    }
    isWorking = false;
  }

  async function commit(entries: readonly Entry[]): Promise<void> {
    try {
      const settle = await transaction(entries);
      if (entries.some(({ urgency }) => urgency === 'kept')) lookForReplaced();
      for (const entry of entries) failed.delete(entry);
      for (const one of settle) one();
    } catch (error) {
      if (entries.length > 1 && !hasSqliteCode(error, 'BUSY')) {
        // Commit the entries one at a time, paid ones first, so that the failure of one does not affect the others.
        const isPaid = ({ urgency }: Entry): number => Number(urgency === 'kept');
        for (const entry of entries.toSorted((one, other) => isPaid(other) - isPaid(one))) await commit([entry]);
        return;
      }
      const isRetried = ({ urgency }: Entry): boolean => urgency === 'kept' || urgency === 'later';
      if (hasSpace && entries.some(isRetried) && hasSqliteCode(error, 'FULL')) {
        hasSpace = false;
        giveUpSpace(folder);
        return await commit(entries);
      }
      for (const entry of entries) {
        if (isRetried(entry)) failed.add(entry);
        entry.reject(error);
      }
    }
    // Files that only read the journal again must not wake each other.
    if (entries.every(({ urgency }) => urgency === 'soon')) return;
    woken?.abort();
    woken = undefined;
  }

  async function transaction(entries: readonly Entry[]): Promise<readonly (() => void)[]> {
    // In WAL mode, `normal` leaves flushing to a later commit. If the power fails, entries on which nothing depends may
    // then be lost.
    const isFlushed = entries.some(({ urgency }) => urgency === 'now' || urgency === 'kept');
    const wanted = isFlushed ? 'full' : 'normal';
    if (synchronous !== wanted) db.exec(`pragma synchronous = ${wanted}`);
    synchronous = wanted;
    try {
      await retried(() => db.exec('begin immediate'));
      const settle = entries.map(applied);
      await retried(() => db.exec('commit'));
      return settle;
    } catch (error) {
      rollBack(db);
      throw error;
    }
  }

  async function retried(statement: () => void): Promise<void> {
    for (const began = uptime(); ; ) {
      try {
        return statement();
      } catch (thrown) {
        if (!hasSqliteCode(thrown, 'BUSY') || uptime() - began > LONGEST_WAIT_MILLISECONDS) throw thrown;
      }
      await sleep(SHORTEST_PAUSE_MILLISECONDS + Math.random() * PAUSE_RANGE_MILLISECONDS);
    }
  }

  function warn(sentence: string): void {
    if (!warnings.includes(sentence)) warnings.push(sentence);
  }

  /** Detects that the database files were replaced, because other processes might then use a different log. */
  function lookForReplaced(): void {
    if (identityOf(folder) === identity) return;
    problem = 'its files were replaced or removed during the run';
    warn(journalWarnings('journal-replaced', { folder }));
  }

  return {
    ...run,
    warnings,
    warn,
    keepInMemory(one: Unrecorded): void {
      inMemory.set(workId(one.work), one);
    },
    /** Identical files in this run can use a signature that could not be committed. */
    unrecorded: (of: Work): Unrecorded | undefined => (failed.size > 0 ? inMemory.get(workId(of)) : undefined),
    allUnrecorded: (): readonly Unrecorded[] => (failed.size > 0 ? [...inMemory.values()] : []),
    enter<T>(urgency: Urgency, apply: () => T): Promise<T> {
      return new Promise((resolve, reject) => {
        waiting.push({
          urgency,
          apply,
          resolve: (value) => resolve(value as T),
          reject: (error) => reject(asJournalError(error, folder)),
        });
        if (urgency !== 'later') void work();
        else timer ??= setTimeout(() => void work(), LATER_MILLISECONDS);
      });
    },
    lookForReplaced,
    assertUsable(): void {
      const reason = problem ?? (failed.size > 0 ? 'a signature could not be recorded in it' : undefined);
      if (reason !== undefined) throw journalErrors('journal-unusable', { folder, reason });
    },
    /** Ends early if an entry is committed or the signal is aborted. */
    async paused(milliseconds: number, signal?: AbortSignal): Promise<void> {
      woken ??= new AbortController();
      const either = AbortSignal.any(signal ? [woken.signal, signal] : [woken.signal]);
      await sleep(milliseconds, undefined, { signal: either }).catch(() => undefined);
    },
  };
}

/** If an entry itself causes an error, only its own file gets that error as the result. Throws all other errors. */
function applied({ apply, resolve, reject }: Entry): () => void {
  try {
    const value = apply();
    return () => resolve(value);
  } catch (error) {
    if (error instanceof CodesignError || hasSqliteCode(error, 'CONSTRAINT')) return () => reject(error);
    throw error;
  }
}
