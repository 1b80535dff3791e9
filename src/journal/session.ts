/** A run, and what its files have in common: its commits, its warnings, and whether it may still make requests. */

import { setTimeout as sleep } from 'node:timers/promises';
import { groupCommits, type Urgency } from './commits.ts';
import { journalErrors, journalWarnings } from './errors.ts';
import type { KnownCall } from './journal.ts';
import { identityOf } from './place.ts';
import type { Run } from './runs.ts';

/** A signature that could not be committed. */
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

  /** Looks whether the files of the database are still those that were opened: other processes might work with another log. */
  function lookForReplaced(): void {
    if (identityOf(folder) === identity) return;
    isReplaced = true;
    warn(journalWarnings('journal-replaced', { folder }));
  }

  return {
    ...run,
    warnings,
    warn,
    /** By the work. */
    unrecorded: new Map<string, Unrecorded>(),
    hasFailed,
    lookForReplaced,
    /** Adds an entry that only decides. */
    decide: <T>(apply: () => T): Promise<T> => add('soon', apply),
    /** Adds an entry after which files of this run that wait look again. */
    async enter<T>(urgency: Urgency, apply: () => T): Promise<T> {
      try {
        return await add(urgency, apply);
      } finally {
        entered.abort();
        entered = new AbortController();
      }
    },
    /** Throws once the run must not make requests any more. */
    assertUsable(): void {
      if (!isReplaced && !hasFailed()) return;
      const reason = isReplaced
        ? 'its files were replaced or removed during the run'
        : 'a signature could not be recorded in it';
      throw journalErrors('journal-unusable', { folder, reason });
    },
    /** Waits so long, or until this run enters something. */
    async paused(milliseconds: number, signal: AbortSignal = entered.signal): Promise<void> {
      const woken = AbortSignal.any([signal, entered.signal]);
      await sleep(milliseconds, undefined, { signal: woken }).catch(() => undefined);
    },
  };
}
