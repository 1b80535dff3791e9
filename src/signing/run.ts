import { setMaxListeners } from 'node:events';
import { CodesignError } from '../errors/codesign-error.ts';
import type { Format } from '../format/format.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import { signingErrors, signingWarnings } from './errors.ts';
import type { StagedCopyOptions } from './files/staged-copy.ts';
import type { FailedOutcome, FileOutcome, SigningEvent } from './outcome.ts';

/** What a run works with, whatever it does to its files. */
export interface Run {
  readonly formats: readonly Format[];
  /** Digests entries of archives. */
  readonly digestEntries: DigestEntries;
  readonly disk: Disk;
  /** Number of files under way concurrently. */
  readonly concurrency: number;
  /** Milliseconds that never go back. */
  readonly clock: () => number;
  readonly now: () => Date;
  readonly onEvent: (event: SigningEvent) => void;
}

/** Names and removal of temporary files. */
export type Disk = Pick<StagedCopyOptions, 'randomName' | 'removeStaleFiles' | 'flushFolder' | 'temporaryFiles'>;

export interface StartedRun extends Run, Disposable {
  readonly stop: StopSignal;
  /** About the listener for events. */
  readonly listenerWarnings: readonly string[];
}

/** When `signal` aborts, no other file starts, and files under way are finished. */
export function startRun(run: Run, signal: AbortSignal | undefined): StartedRun {
  const stop = createStopSignal();
  const interrupt = (): void => stop.stop('the run was interrupted');
  signal?.addEventListener('abort', interrupt, { once: true });
  if (signal?.aborted) interrupt();
  const listenerWarnings: string[] = [];
  return {
    ...run,
    stop,
    listenerWarnings,
    onEvent(event): void {
      try {
        run.onEvent(event);
      } catch (thrown) {
        // It must not make a file count as failed that is done.
        if (listenerWarnings.length === 0)
          listenerWarnings.push(signingWarnings('listener-failed', { reason: String(thrown) }));
      }
    },
    [Symbol.dispose]: () => signal?.removeEventListener('abort', interrupt),
  };
}

/** Stops a run early: files under way are finished, and no other file starts. */
export interface StopSignal {
  readonly signal: AbortSignal;
  /** Keeps the first reason: later calls change nothing. */
  stop(reason: string, cause?: CodesignError): void;
  /** Throws `not-attempted`. */
  throwIfStopped(): void;
}

export function createStopSignal(): StopSignal {
  const controller = new AbortController();
  // Every call that waits listens to it.
  setMaxListeners(0, controller.signal);
  let stopped: CodesignError | undefined;
  return {
    signal: controller.signal,
    stop(reason: string, cause?: CodesignError): void {
      stopped ??= notAttempted(reason, cause);
      controller.abort();
    },
    throwIfStopped(): void {
      if (stopped) throw stopped;
    },
  };
}

/** Whether the run ended before anything was done for the file. */
export function isNotAttempted(outcome: FileOutcome): outcome is FailedOutcome {
  return outcome.status === 'failed' && outcome.error.code === 'not-attempted';
}

/** Has the category of its cause, so that a run stopped by one fault ends with that fault's exit code. */
function notAttempted(reason: string, cause: CodesignError | undefined): CodesignError {
  const error = signingErrors('not-attempted', { reason }, { cause });
  if (cause === undefined) return error;
  const { code, message, hint } = error;
  return new CodesignError({ code, category: cause.category, message, hint, cause });
}
