/** Puts together what the journal is made of, whether it is to be written or only read. */

import { join } from 'node:path';
import { callFiles } from './calls/call-files.ts';
import { createWaiting } from './calls/waiting.ts';
import type { Disk } from './disk.ts';
import { inJournal } from './guard.ts';
import { finishedCalls } from './history/finished-calls.ts';
import { openHistory } from './history/history.ts';
import { provenPairs } from './history/proven-pairs.ts';
import type { UnendedRuns } from './history/unended-runs.ts';
import { observeLiveness } from './liveness.ts';
import type { JournalParts } from './parts.ts';
import type { Processes } from './processes.ts';

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

interface Opened {
  readonly disk: Disk;
  readonly warn: (sentence: string) => void;
  /** What this opening of the journal is called. */
  readonly run: string;
  readonly unended: UnendedRuns;
  readonly isReadOnly: boolean;
}

export function foldersIn(folder: string) {
  const inside = (name: string): string => join(folder, name);
  const names = { calls: inside('calls'), aside: inside('aside'), history: inside('history') };
  return { ...names, finished: inside('finished'), proven: inside('proven'), running: inside('running') };
}

/** Each sentence once. */
export function warningList() {
  const warnings: string[] = [];
  const warn = (sentence: string): void => {
    if (!warnings.includes(sentence)) warnings.push(sentence);
  };
  return { warnings, warn };
}

export function makeParts(options: JournalOptions, opened: Opened): JournalParts {
  const { folder, now, uptime, randomId, processes, runningFor } = options;
  const { disk, warn, run, unended, isReadOnly } = opened;
  const folders = foldersIn(folder);
  const calls = callFiles(folders, disk);
  const onDamaged = (month: string, lines: number): void =>
    warn(
      `The history of ${month} in ${folders.history} has ${lines} damaged ${lines === 1 ? 'line' : 'lines'}, left out.`,
    );
  return {
    isReadOnly,
    now,
    uptime,
    randomId,
    began: {
      at: new Date(now().getTime() - runningFor).toISOString(),
      up: uptime() - runningFor,
      boot: processes.self.boot,
    },
    calls,
    finished: finishedCalls(folders.finished, calls, now, disk),
    history: openHistory({ folder: folders.history, disk, now, onDamaged }),
    proven: provenPairs(folders.proven, disk),
    unended,
    liveness: observeLiveness(processes, run, now),
    waiting: createWaiting(),
    unanswered: new Set(),
    warn,
    guard: (work) => inJournal(folder, work),
  };
}
