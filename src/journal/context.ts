import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { callFiles } from './calls/call-files.ts';
import type { Moment } from './calls/steps.ts';
import { createWaiting } from './calls/waiting.ts';
import type { Disk } from './disk.ts';
import { inJournal } from './errors.ts';
import { finishedCalls } from './history/finished-calls.ts';
import { openHistory } from './history/history.ts';
import type { UnendedRuns } from './history/unended-runs.ts';
import type { ProvenPair } from './journal.ts';
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

interface Opened {
  readonly disk: Disk;
  readonly warn: (sentence: string) => void;
  /** Id of this opening of the journal. */
  readonly run: string;
  readonly unended: UnendedRuns;
  /** Nothing is created, changed or removed. */
  readonly isReadOnly: boolean;
}

export function foldersIn(folder: string) {
  const inside = (name: string): string => join(folder, name);
  return {
    calls: inside('calls'),
    aside: inside('aside'),
    history: inside('history'),
    finished: inside('finished'),
    proven: inside('proven'),
    running: inside('running'),
  };
}

/** Each sentence once. */
export function warningList() {
  const warnings: string[] = [];
  const warn = (sentence: string): void => {
    if (!warnings.includes(sentence)) warnings.push(sentence);
  };
  return { warnings, warn };
}

export function createContext(options: JournalOptions, opened: Opened) {
  const { folder, now, uptime, randomId, processes, runningFor } = options;
  const { disk, warn, run, unended, isReadOnly } = opened;
  const folders = foldersIn(folder);
  const calls = callFiles(folders, disk);
  const onDamaged = (month: string, lines: number): void =>
    warn(
      `The history of ${month} in ${folders.history} has ${lines} damaged ${lines === 1 ? 'line' : 'lines'}, left out.`,
    );
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
    /** When this run began: what other processes finish from then on is reused. */
    began,
    calls,
    finished: finishedCalls(folders.finished, calls, now, disk),
    history: openHistory({ folder: folders.history, disk, now, onDamaged }),
    proven: provenPairs(folders.proven, disk),
    unended,
    liveness: observeLiveness(processes, run, now),
    waiting: createWaiting(),
    /** Calls of this run that got no answer. */
    unanswered: new Set<string>(),
    warn,
    /** Turns errors of the file system into errors of the journal. */
    guard: <T>(work: () => Promise<T>): Promise<T> => inJournal(folder, work),
  };
}

/** Pairs of certificate number and certificate that a verified signature has proven: an empty file for each, named by its digest. */
function provenPairs(folder: string, disk: Disk) {
  const known = new Set<string>();
  const nameOf = ({ origin, code, leaf }: ProvenPair): string =>
    createHash('sha256')
      .update(JSON.stringify([origin, code, leaf]))
      .digest('hex');
  return {
    async has(pair: ProvenPair): Promise<boolean> {
      const name = nameOf(pair);
      const size = known.has(name) ? 0 : await disk.sizeOf(join(folder, name));
      return size !== undefined;
    },
    async add(pair: ProvenPair): Promise<void> {
      const name = nameOf(pair);
      if (known.has(name)) return;
      await using _file = await disk.openLines(join(folder, name), 'may-exist');
      known.add(name);
    },
  };
}
