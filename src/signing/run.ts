import { setMaxListeners } from 'node:events';
import { CodesignError } from '../errors/codesign-error.ts';
import type { Format } from '../format/format.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import { signingErrors, signingWarnings } from './errors.ts';
import type { StagedCopyOptions } from './files/staged-copy.ts';
import type { FailedOutcome, FileOutcome, SigningEvent } from './outcome.ts';

/** What all commands that change files need. Created by `openRun` in src/app/compose-local.ts. */
export interface Run {
  readonly formats: readonly Format[];
  /** Formats without signatures; a file has one of them only if it has no other format. */
  readonly containers?: readonly Format[];
  readonly digestEntries: DigestEntries;
  readonly disk: Disk;
  readonly concurrency: number;
  /** Computes the SHA-256 digest of each written file, which takes as long as one more reading of the file. */
  readonly fileDigests: boolean;
  readonly clock: () => number;
  readonly now: () => Date;
  /** Never throws. */
  readonly onEvent: (event: SigningEvent) => void;
  readonly listenerWarnings: readonly string[];
}

/** An error of a listener must not fail a file or a call, and the rejection of an asynchronous one must not end the process. */
export function listenWith(listener: (event: SigningEvent) => void): Pick<Run, 'onEvent' | 'listenerWarnings'> {
  const listenerWarnings: string[] = [];
  const warn = (thrown: unknown): void => {
    if (listenerWarnings.length === 0)
      listenerWarnings.push(signingWarnings('listener-failed', { reason: String(thrown) }));
  };
  return {
    onEvent(event): void {
      new Promise<void>((resolve) => resolve(listener(event))).catch(warn);
    },
    listenerWarnings,
  };
}

export type Disk = Pick<StagedCopyOptions, 'randomName' | 'removeStaleFiles' | 'flushFolder' | 'temporaryFiles'>;

export interface StartedRun extends Run, Disposable {
  readonly stop: StopSignal;
}

/** After `signal` is aborted, the run does not start on another file. */
export function startRun(run: Run, signal: AbortSignal | undefined): StartedRun {
  const stop = createStopSignal();
  const interrupt = (): void => stop.stop('the run was interrupted');
  signal?.addEventListener('abort', interrupt, { once: true });
  if (signal?.aborted) interrupt();
  return {
    ...run,
    stop,
    [Symbol.dispose]: () => signal?.removeEventListener('abort', interrupt),
  };
}

export type StopSignal = ReturnType<typeof createStopSignal>;

/** Stops a run early: no further file starts, and large files that are still being read are abandoned. */
export function createStopSignal() {
  const controller = new AbortController();
  const signal: AbortSignal = controller.signal;
  // There may be more listeners than Node's limit of ten: each waiting call adds one.
  setMaxListeners(0, signal);
  let stopped: CodesignError | undefined;
  return {
    signal,
    /** Only the first reason is kept. */
    stop(reason: string, cause?: CodesignError): void {
      stopped ??= notAttempted(reason, cause);
      controller.abort();
    },
    throwIfStopped(): void {
      if (stopped) throw stopped;
    },
  };
}

export function isNotAttempted(outcome: FileOutcome): outcome is FailedOutcome {
  return outcome.status === 'failed' && outcome.error.code === 'not-attempted';
}

/** The category, and with it the exit code, is that of the error that stopped the run. */
function notAttempted(reason: string, cause: CodesignError | undefined): CodesignError {
  const error = signingErrors('not-attempted', { reason }, { cause });
  if (cause === undefined) return error;
  const { code, message, hint } = error;
  return new CodesignError({ code, category: cause.category, message, hint, cause });
}
