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
  /** Wakes the files that wait for a change in the journal. */
  const waiting = new Set<() => void>();
  let isReplaced = false;
  const { add, hasFailed } = groupCommits(run, lookForReplaced);

  function warn(sentence: string): void {
    if (!warnings.includes(sentence)) warnings.push(sentence);
  }

  /** Detects that the database files were replaced, because other processes might then use a different log. */
  function lookForReplaced(): void {
    if (identityOf(folder) === identity) return;
    isReplaced = true;
    warn(journalWarnings('journal-replaced', { folder }));
  }

  let hasLooked = false;
  /**
   * Checks once for all requests in one turn of the event loop, which saves three system calls for each further file.
   */
  function lookOnceInTurn(): void {
    if (hasLooked) return;
    hasLooked = true;
    setImmediate(() => {
      hasLooked = false;
    });
    lookForReplaced();
  }

  return {
    ...run,
    warnings,
    warn,
    unrecorded: new Map<string, Unrecorded>(),
    hasFailed,
    lookOnceInTurn,
    /** Adds an entry without waking the files that wait. */
    decide: <T>(apply: () => T): Promise<T> => add('soon', apply),
    /** Adds an entry, then wakes the files of this run that wait. */
    async enter<T>(urgency: Urgency, apply: () => T): Promise<T> {
      try {
        return await add(urgency, apply);
      } finally {
        for (const wake of waiting) wake();
      }
    },
    assertUsable(): void {
      if (!isReplaced && !hasFailed()) return;
      const reason = isReplaced
        ? 'its files were replaced or removed during the run'
        : 'a signature could not be recorded in it';
      throw journalErrors('journal-unusable', { folder, reason });
    },
    async paused(milliseconds: number, signal?: AbortSignal): Promise<void> {
      const woken = new AbortController();
      const wake = () => woken.abort();
      waiting.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
      if (signal?.aborted) wake();
      await sleep(milliseconds, undefined, { signal: woken.signal }).catch(() => undefined);
      signal?.removeEventListener('abort', wake);
      waiting.delete(wake);
    },
  };
}
