import { setMaxListeners } from 'node:events';
import { CodesignError } from '../errors/codesign-error.ts';
import { signingErrors } from './errors.ts';
import type { ChangeOutcome, FailedOutcome, FileOutcome } from './outcome.ts';

export interface Batch {
  /** Aborts when the batch is stopped: for waits that need not continue. */
  readonly signal: AbortSignal;
  /** Nothing new starts from now on; running work is finished. The first cause stays. */
  stop(reason: string, cause?: CodesignError): void;
  /** Throws `not-attempted` once the batch has been stopped. */
  assertGoing(): void;
}

export function startBatch(): Batch {
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
    assertGoing(): void {
      if (stopped) throw stopped;
    },
  };
}

/** Whether the run ended before anything was done for the file. */
export function isNotAttempted(outcome: FileOutcome | ChangeOutcome): outcome is FailedOutcome {
  return outcome.status === 'failed' && outcome.error.code === 'not-attempted';
}

/** Of the same category as its cause, so that a run stopped by one fault ends with that fault's exit code. */
function notAttempted(reason: string, cause: CodesignError | undefined): CodesignError {
  const error = signingErrors('not-attempted', { reason }, { cause });
  if (cause === undefined) return error;
  const { code, message, hint } = error;
  return new CodesignError({ code, category: cause.category, message, hint, cause });
}
