import type { Readable, Writable } from 'node:stream';
import { clock } from '../app/clock.ts';

/** SIGHUP means that the user closed the terminal. */
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type EndingSignal = (typeof ENDING_SIGNALS)[number];

export interface Io {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since the start of the run, including fractions. */
  clock(): number;
  onSignal(handle: (signal: EndingSignal) => void): () => void;
  /**
   * The first error that occurred when writing to standard output, for example because the disk is full. It is not an
   * error if the reader closed the pipe.
   */
  outputFault(): Error | undefined;
  exit(code: number): never;
  /** Runs `work` as the last action of the process, if the exit code is 0. `work` must not throw. */
  onSuccess(work: () => void): void;
}

export function processIo(): Io {
  const { stdout, env } = process;
  // Without a handler for this signal, Node.js opens its inspector, and other processes of the current user could then
  // read secrets.
  process.on('SIGUSR1', () => undefined);
  let stderr: Writable | undefined;
  let fault: NodeJS.ErrnoException | undefined;
  // The program that reads the output may close the pipe, as `| head` does. Files that are in progress are finished
  // anyway.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fault ??= error;
  });
  return {
    // The stream is opened lazily: opening it takes milliseconds, and most runs never read standard input.
    get stdin() {
      return process.stdin;
    },
    get stderr() {
      stderr ??= process.stderr.on('error', () => undefined);
      return stderr;
    },
    stdout,
    env,
    clock,
    onSignal(handle) {
      for (const signal of ENDING_SIGNALS) process.on(signal, handle);
      return () => {
        for (const signal of ENDING_SIGNALS) process.off(signal, handle);
      };
    },
    outputFault: () => fault,
    exit: (code) => process.exit(code),
    onSuccess(work) {
      process.once('exit', (code) => {
        if (code !== 0) return;
        work();
        // Without an explicit exit, Node.js first frees its memory. The process could then be killed although `work`
        // has run.
        process.exit();
      });
    },
  };
}
