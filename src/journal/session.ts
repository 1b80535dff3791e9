import { setTimeout as sleep } from 'node:timers/promises';
import { groupCommits, type Urgency } from './commits.ts';
import { journalErrors, journalWarnings } from './errors.ts';
import type { KnownCall } from './journal.ts';
import { identityOf } from './place.ts';
import type { Run } from './runs.ts';

export interface Unrecorded extends KnownCall {
  readonly file: string;
  readonly reason: string;
}

export type Session = ReturnType<typeof sessionOf>;

export function sessionOf(run: Run) {
  const { folder } = run;
  const identity = identityOf(folder);
  const warnings: string[] = [];
  let entered = new AbortController();
  let isReplaced = false;
  const { add, hasFailed } = groupCommits(run, lookForReplaced);

  function warn(sentence: string): void {
    if (!warnings.includes(sentence)) warnings.push(sentence);
  }

  /** Detects replaced database files, because other processes might use another log. */
  function lookForReplaced(): void {
    if (identityOf(folder) === identity) return;
    isReplaced = true;
    warn(journalWarnings('journal-replaced', { folder }));
  }

  return {
    ...run,
    warnings,
    warn,
    unrecorded: new Map<string, Unrecorded>(),
    hasFailed,
    lookForReplaced,
    /** Adds an entry that does not wake the waiting files. */
    decide: <T>(apply: () => T): Promise<T> => add('soon', apply),
    /** Adds an entry, then wakes the waiting files of this run. */
    async enter<T>(urgency: Urgency, apply: () => T): Promise<T> {
      try {
        return await add(urgency, apply);
      } finally {
        entered.abort();
        entered = new AbortController();
      }
    },
    assertUsable(): void {
      if (!isReplaced && !hasFailed()) return;
      const reason = isReplaced
        ? 'its files were replaced or removed during the run'
        : 'a signature could not be recorded in it';
      throw journalErrors('journal-unusable', { folder, reason });
    },
    async paused(milliseconds: number, signal: AbortSignal = entered.signal): Promise<void> {
      const woken = AbortSignal.any([signal, entered.signal]);
      await sleep(milliseconds, undefined, { signal: woken }).catch(() => undefined);
    },
  };
}
