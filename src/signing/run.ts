import { setMaxListeners } from 'node:events';
import { CodesignError } from '../errors/codesign-error.ts';
import type { Format } from '../format/format.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import { signingErrors, signingWarnings } from './errors.ts';
import type { StagedCopyOptions } from './files/staged-copy.ts';
import type { FailedOutcome, FileOutcome, SigningEvent } from './outcome.ts';

export interface Run {
  readonly formats: readonly Format[];
  /** Formats without signatures, which are recognised only if a file has no other format. */
  readonly containers?: readonly Format[];
  readonly digestEntries: DigestEntries;
  readonly disk: Disk;
  readonly concurrency: number;
  readonly clock: () => number;
  readonly now: () => Date;
  readonly onEvent: (event: SigningEvent) => void;
}

export type Disk = Pick<StagedCopyOptions, 'randomName' | 'removeStaleFiles' | 'flushFolder' | 'temporaryFiles'>;

export interface StartedRun extends Run, Disposable {
  readonly stop: StopSignal;
  readonly listenerWarnings: readonly string[];
}

/** After `signal` is aborted, no further file starts. */
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
        // If a listener throws, a finished file must not be counted as failed.
        if (listenerWarnings.length === 0)
          listenerWarnings.push(signingWarnings('listener-failed', { reason: String(thrown) }));
      }
    },
    [Symbol.dispose]: () => signal?.removeEventListener('abort', interrupt),
  };
}

/** Stops a run early: no further file starts, and large files that are still being read are abandoned. */
export interface StopSignal {
  readonly signal: AbortSignal;
  /** Only the first reason is kept; later calls change nothing. */
  stop(reason: string, cause?: CodesignError): void;
  throwIfStopped(): void;
}

export function createStopSignal(): StopSignal {
  const controller = new AbortController();
  // Every call that waits has a listener on this signal.
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

/** Returns true if the run ended before the file was attempted. */
export function isNotAttempted(outcome: FileOutcome): outcome is FailedOutcome {
  return outcome.status === 'failed' && outcome.error.code === 'not-attempted';
}

/**
 * The error gets the category of its cause, so that a run that was stopped by an error ends with the exit code of that
 * error.
 */
function notAttempted(reason: string, cause: CodesignError | undefined): CodesignError {
  const error = signingErrors('not-attempted', { reason }, { cause });
  if (cause === undefined) return error;
  const { code, message, hint } = error;
  return new CodesignError({ code, category: cause.category, message, hint, cause });
}
