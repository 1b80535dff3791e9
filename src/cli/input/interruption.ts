/** What happens when the user ends a run: the first signal lets what is under way finish, the second ends at once. */

import { clock } from '../../app/clock.ts';
import { EXIT_SIGINT, EXIT_SIGTERM } from '../../errors/exit-codes.ts';
import type { EndingSignal, Io } from '../io.ts';

export interface Interruption {
  /** Aborts with the first signal. */
  readonly signal: AbortSignal;
  /** That of the first signal, once one has come. */
  readonly exitCode: number | undefined;
  stopListening(): void;
}

export interface InterruptionOptions {
  readonly warn: (text: string) => void;
  /** Called before a second signal ends the process. */
  readonly removeTemporaryFiles: () => void;
  /** Takes the live line away; called then, too. */
  readonly stopProgress: () => void;
}

const SIGNAL_EXIT_CODES: Readonly<Record<EndingSignal, number>> = {
  SIGINT: EXIT_SIGINT,
  SIGTERM: EXIT_SIGTERM,
  SIGHUP: EXIT_SIGTERM,
};
/** npm hands on a Ctrl-C that the terminal has sent to this program already: two within so short a time are one. */
const ECHO_MILLISECONDS = 1000;

export function listenForInterruption(
  io: Io,
  { warn, removeTemporaryFiles, stopProgress }: InterruptionOptions,
): Interruption {
  const controller = new AbortController();
  let exitCode: number | undefined;
  let first = 0;
  const stopListening = io.onSignal((signal) => {
    if (exitCode !== undefined) {
      if (clock() - first < ECHO_MILLISECONDS) return;
      stopProgress();
      removeTemporaryFiles();
      io.exit(exitCode);
    }
    first = clock();
    exitCode = SIGNAL_EXIT_CODES[signal];
    warn('interrupted: waiting for calls under way; a second interrupt ends at once');
    controller.abort();
  });
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    stopListening,
  };
}

/** For a run without anything to finish: the first signal ends it, with its line taken away. Gives what stops listening. */
export function endOnSignal(io: Io, stopProgress: () => void): () => void {
  return io.onSignal((signal) => {
    stopProgress();
    io.exit(SIGNAL_EXIT_CODES[signal]);
  });
}
