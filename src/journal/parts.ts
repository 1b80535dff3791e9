/** What the journal is put together of. Types only. */

import type { CallFiles } from './calls/call-files.ts';
import type { Moment } from './calls/steps.ts';
import type { Waiting } from './calls/waiting.ts';
import type { FinishedCalls } from './history/finished-calls.ts';
import type { History } from './history/history.ts';
import type { ProvenPairs } from './history/proven-pairs.ts';
import type { UnendedRuns } from './history/unended-runs.ts';
import type { Liveness } from './liveness.ts';

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
