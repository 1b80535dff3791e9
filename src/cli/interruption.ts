import { setMaxListeners } from 'node:events';
import { clock } from '../app/clock.ts';
import { EXIT_SIGINT, EXIT_SIGTERM } from '../errors/exit-codes.ts';
import { cliWarnings } from './errors.ts';
import type { EndingSignal, Io } from './io.ts';
import type { LinesOptions } from './output/lines.ts';
import { openProgress, type Progress, type ProgressWords } from './output/progress/progress.ts';

const SIGNAL_EXIT_CODES: Readonly<Record<EndingSignal, number>> = {
  SIGINT: EXIT_SIGINT,
  SIGTERM: EXIT_SIGTERM,
  SIGHUP: EXIT_SIGTERM,
};
/**
 * npm forwards Ctrl-C, although the terminal also sends it to this process. Two signals within this time count as one.
 */
const ECHO_MILLISECONDS = 1000;

interface Interruption extends Disposable {
  /** Aborted by the first signal from the operating system. The run then finishes only the calls in progress. */
  readonly signal: AbortSignal;
  /** undefined unless the run was interrupted. */
  readonly exitCode: number | undefined;
}

interface InterruptibleConsole {
  warning(text: string): void;
  /** Called before a second signal ends the process. */
  abandoned(): void;
}

export function listenForSignals(
  console: InterruptibleConsole,
  { removeTemporaryFiles }: { removeTemporaryFiles(): void },
  io: Io,
): Interruption {
  const controller = new AbortController();
  // Every call and report that is waiting listens to this signal.
  setMaxListeners(0, controller.signal);
  let interrupted: { readonly exitCode: number; readonly at: number } | undefined;
  const stopListening = io.onSignal((signal) => {
    if (interrupted !== undefined) {
      if (clock() - interrupted.at < ECHO_MILLISECONDS) return console.warning(cliWarnings('interrupt-ignored'));
      removeTemporaryFiles();
      console.abandoned();
      io.exit(interrupted.exitCode);
    }
    interrupted = { exitCode: SIGNAL_EXIT_CODES[signal], at: clock() };
    console.warning(cliWarnings('run-interrupted'));
    controller.abort();
  });
  return {
    signal: controller.signal,
    get exitCode() {
      return interrupted?.exitCode;
    },
    [Symbol.dispose]: stopListening,
  };
}

export function reportReads(progress: Progress) {
  return (path: string, bytes: number, size: number): void => progress.event({ type: 'bytes-read', path, bytes, size });
}

/** A signal ends the process immediately; `onInterrupt` can print what was done. */
export async function withProgress<Result>(
  words: ProgressWords,
  options: LinesOptions,
  io: Io,
  work: (progress: Progress) => Promise<Result>,
  onInterrupt: () => void = () => undefined,
): Promise<Result> {
  using progress = openProgress(io, options, words);
  const stopListening = io.onSignal((signal) => {
    progress[Symbol.dispose]();
    onInterrupt();
    io.exit(SIGNAL_EXIT_CODES[signal]);
  });
  try {
    return await work(progress);
  } finally {
    stopListening();
  }
}
