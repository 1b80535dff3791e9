/** What the files of a run have in common: its commits, its warnings, and whether it may still make requests. */

import { groupCommits, type Urgency } from './commits.ts';
import { journalErrors, journalWarnings } from './errors.ts';
import type { SignatureOnRecord } from './journal.ts';
import { identityOf } from './place.ts';
import type { Run } from './runs.ts';

/** A signature that could not be committed. */
export interface Unrecorded extends SignatureOnRecord {
  readonly name: string;
  readonly file: string;
  readonly reason: string;
}

export type Session = ReturnType<typeof sessionOf>;

export function sessionOf(run: Run) {
  const { folder } = run;
  const identity = identityOf(folder);
  const warnings: string[] = [];
  const wakers = new Set<() => void>();
  let isReplaced = false;
  const commits = groupCommits(run, lookForReplaced);

  function warn(sentence: string): void {
    if (!warnings.includes(sentence)) warnings.push(sentence);
  }

  function lookForReplaced(): void {
    if (identityOf(folder) === identity) return;
    isReplaced = true;
    warn(journalWarnings('journal-replaced', { folder }));
  }

  return {
    run,
    warnings,
    warn,
    /** By the work. */
    unrecorded: new Map<string, Unrecorded>(),
    /** Whether something that was paid is not in the journal. */
    hasFailed: commits.hasFailed,
    /** Adds an entry that only decides. */
    decide: <T>(apply: () => T): Promise<T> => commits.add('soon', apply),
    /** Adds an entry after which files of this run that wait look again. */
    async enter<T>(urgency: Urgency, apply: () => T): Promise<T> {
      try {
        return await commits.add(urgency, apply);
      } finally {
        for (const wake of wakers) wake();
      }
    },
    /** Looks whether the files of the database are still those that were opened: other processes might work with another log. */
    lookForReplaced,
    /** Throws once the run must not make requests any more. */
    assertUsable(): void {
      if (!isReplaced && !commits.hasFailed()) return;
      const reason = isReplaced
        ? 'its files were replaced or removed during the run'
        : 'a signature could not be recorded in it';
      throw journalErrors('journal-unusable', { folder, reason });
    },
    /** Waits so long, or until this run enters something. */
    paused(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
      return new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          wakers.delete(end);
          signal?.removeEventListener('abort', end);
          resolve();
        };
        const timer = setTimeout(end, milliseconds);
        wakers.add(end);
        signal?.addEventListener('abort', end);
        if (signal?.aborted) end();
      });
    },
  };
}
