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
   * The first error while writing to standard output, for example because the disk is full. A pipe that its reader has
   * closed is not an error.
   */
  outputFault(): Error | undefined;
  exit(code: number): never;
  /** Runs `work` last, and only if the exit code is 0. `work` must not throw. */
  onSuccess(work: () => void): void;
}

export function processIo(): Io {
  const { stdout, env } = process;
  // By default, Node.js opens its inspector on this signal, and other processes of the user could then read secrets.
  process.on('SIGUSR1', () => undefined);
  let stderr: Writable | undefined;
  let fault: NodeJS.ErrnoException | undefined;
  // A closed pipe (`| head`) is not an error: files in progress are finished.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fault ??= error;
  });
  return {
    // Opened lazily: opening standard input takes milliseconds, and most runs never read it.
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
        // Without this, Node.js first frees its memory, and the process could be killed although `work` has run.
        process.exit();
      });
    },
  };
}
