/** What the command line reads from and writes to, so that it can be run without a process of its own. */

import type { Readable, Writable } from 'node:stream';

export interface Io {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hears SIGINT and SIGTERM until the function it gives is called. */
  onSignal(handle: (signal: 'SIGINT' | 'SIGTERM') => void): () => void;
  /** Ends the process at once. */
  exit(code: number): never;
}

/** The running process. */
export function processIo(): Io {
  const { stdin, stdout, stderr, env } = process;
  return {
    stdin,
    stdout,
    stderr,
    env,
    onSignal(handle) {
      process.on('SIGINT', handle);
      process.on('SIGTERM', handle);
      return () => {
        process.off('SIGINT', handle);
        process.off('SIGTERM', handle);
      };
    },
    exit: (code) => process.exit(code),
  };
}
