/** What the command line reads from and writes to, so that it can be run without a process of its own. */

import type { Readable, Writable } from 'node:stream';

/** SIGHUP: the terminal was closed. */
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type EndingSignal = (typeof ENDING_SIGNALS)[number];

export interface Io {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hears the signals that end a process until the function it gives is called. */
  onSignal(handle: (signal: EndingSignal) => void): () => void;
  /** The first fault of writing to standard output, such as a full disk; a reader that went away is none. */
  outputFault(): Error | undefined;
  /** Ends the process at once. */
  exit(code: number): never;
  /** Does the work as the last action of the process, if its exit code is 0. The work must not throw. */
  onSuccess(work: () => void): void;
}

/** The running process. */
export function processIo(): Io {
  const { stdout, env } = process;
  let stderr: Writable | undefined;
  let fault: NodeJS.ErrnoException | undefined;
  // Whoever reads the output may go away (`| head`): files under way are finished all the same.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fault ??= error;
  });
  return {
    // Opening them takes milliseconds, and most runs never read from the one, nor help writes to the other.
    get stdin() {
      return process.stdin;
    },
    get stderr() {
      stderr ??= process.stderr.on('error', () => undefined);
      return stderr;
    },
    stdout,
    env,
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
        // Node would now free its memory, which takes milliseconds. A kill in them would come after the work.
        process.exit();
      });
    },
  };
}
