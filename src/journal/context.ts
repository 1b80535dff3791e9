import { join } from 'node:path';
import type { CodesignError } from '../errors/codesign-error.ts';
import { counted } from '../errors/counted.ts';
import { callFiles } from './calls/call-files.ts';
import type { Moment } from './calls/steps.ts';
import { openDisk } from './disk.ts';
import { inJournal, journalErrors, journalReason, journalWarnings } from './errors.ts';
import { finishedCalls, unendedRuns } from './history/finished-calls.ts';
import { openHistory } from './history/history.ts';
import { openPairs } from './pairs.ts';
import { observeLiveness, type Processes } from './processes.ts';

export type JournalContext = ReturnType<typeof createContext>;

export interface JournalOptions {
  /** The state folder; the journal's own folders are in it. */
  readonly folder: string;
  readonly now: () => Date;
  /**
   * Milliseconds on a clock that never goes back and that all processes share until the machine is started again:
   * `process.hrtime`. Whole seconds, as of `os.uptime` here and there, would miss signatures that could be shared.
   */
  readonly uptime: () => number;
  /** 8 to 64 characters of a-z and 0-9: never the same twice. */
  readonly randomId: () => string;
  readonly processes: Processes;
  /** Days that the history is kept, at least; by whole months. */
  readonly keepDays: number;
  /** Milliseconds that this run has been going: signatures that other processes have finished since then are shared. */
  readonly runningFor: number;
}

/** Does nothing yet. `isReadOnly`: nothing will be created, changed or removed. */
export function createContext(options: JournalOptions, isReadOnly: boolean) {
  const { folder, now, uptime, randomId, processes, runningFor } = options;
  const inside = (name: string): string => join(folder, name);
  const folders = {
    calls: inside('calls'),
    aside: inside('aside'),
    history: inside('history'),
    finished: inside('finished'),
    proven: inside('proven'),
    mismatches: inside('mismatches'),
    running: inside('running'),
  };
  const warnings: string[] = [];
  const warn = (sentence: string): void => {
    if (!warnings.includes(sentence)) warnings.push(sentence);
  };
  const onDamaged = (month: string, lines: number): void =>
    warn(journalWarnings('history-damaged', { month, folder: folders.history, lines: counted(lines, 'damaged line') }));
  const unreadable = new Map<string, CodesignError>();
  const onUnreadable = (month: string, cause: unknown): void => {
    unreadable.set(month, journalErrors('history-unreadable', { month, reason: journalReason(cause) }, { cause }));
  };
  const disk = openDisk(folder);
  const run = randomId();
  const calls = callFiles(folders, disk);
  const began: Moment = {
    at: new Date(now().getTime() - runningFor).toISOString(),
    up: uptime() - runningFor,
    boot: processes.self.boot,
  };
  return {
    isReadOnly,
    now,
    uptime,
    randomId,
    disk,
    folders,
    /** When this run began: what other processes finish from then on is reused. */
    began,
    calls,
    finished: finishedCalls(folders.finished, calls, now, disk),
    history: openHistory({ folder: folders.history, disk, now, onDamaged, onUnreadable }),
    pairs: openPairs(folders, disk),
    unended: unendedRuns({ folder: folders.running, disk, now, self: run }),
    liveness: observeLiveness(processes, run, now),
    waiting: createWaiting(),
    /** Calls of this run that got no answer. */
    unanswered: new Set<string>(),
    /** Each once. */
    warnings: warnings as readonly string[],
    warn,
    /** The error of each month of the history that cannot be read; filled while months are read. */
    unreadable: unreadable as ReadonlyMap<string, CodesignError>,
    /** Turns errors of the file system into errors of the journal. */
    guard: <T>(work: () => Promise<T>): Promise<T> => inJournal(folder, work),
  };
}

/** Claims of this process that wait for a work. */
function createWaiting() {
  const waiting = new Map<string, Set<() => void>>();
  return {
    /** Wakes everything that waits for this work. */
    wake(work: string): void {
      for (const resume of [...(waiting.get(work) ?? [])]) resume();
    },
    /** Until something happens to the work, the time is over, or the signal aborts. */
    wait: (work: string, milliseconds: number, signal: AbortSignal | undefined) =>
      new Promise<void>((resolve) => {
        const others = waiting.get(work) ?? new Set();
        waiting.set(work, others);
        const resume = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', resume);
          others.delete(resume);
          if (others.size === 0) waiting.delete(work);
          resolve();
        };
        const timer = setTimeout(resume, milliseconds);
        signal?.addEventListener('abort', resume, { once: true });
        others.add(resume);
        if (signal?.aborted) resume();
      }),
  };
}
