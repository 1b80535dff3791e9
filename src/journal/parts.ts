/** What the journal is put together of. Types only. */

import type { CallFiles } from './call-files.ts';
import type { FinishedCalls } from './finished-calls.ts';
import type { History } from './history.ts';
import type { Liveness } from './liveness.ts';
import type { ProvenPairs } from './proven-pairs.ts';
import type { Moment } from './steps.ts';
import type { UnendedRuns } from './unended-runs.ts';
import type { Waiting } from './waiting.ts';

export interface JournalParts {
  /** Nothing is made, changed or removed. */
  readonly isReadOnly: boolean;
  readonly now: () => Date;
  readonly uptime: () => number;
  readonly randomId: () => string;
  /** When this run began: what others finish from then on is shared. */
  readonly began: Moment;
  readonly calls: CallFiles;
  readonly finished: FinishedCalls;
  readonly history: History;
  readonly proven: ProvenPairs;
  readonly unended: UnendedRuns;
  readonly liveness: Liveness;
  readonly waiting: Waiting;
  /** Calls of this run that were not answered. */
  readonly unanswered: Set<string>;
  readonly warn: (sentence: string) => void;
  /** Whatever the file system says comes out as the journal's own errors. */
  readonly guard: <T>(work: () => Promise<T>) => Promise<T>;
}
