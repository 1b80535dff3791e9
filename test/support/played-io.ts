/** An `Io` without a process: nothing is typed unless the test types it, and what is printed stays in its streams. */

import { PassThrough } from 'node:stream';
import type { Io } from '../../src/cli/io.ts';

/** A stream that is a terminal if it has columns. */
export function played(columns?: number): PassThrough & { read(): string | null } {
  const stream = new PassThrough({ encoding: 'utf8' });
  return columns === undefined ? stream : Object.assign(stream, { isTTY: true, columns });
}

export function playedIo(parts: Partial<Io> = {}): Io {
  return {
    stdin: new PassThrough(),
    stdout: played(),
    stderr: played(),
    env: {},
    clock: () => 0,
    onSignal: () => () => undefined,
    outputFault: () => undefined,
    onSuccess: () => undefined,
    exit: (code) => {
      throw new Error(`the process ended with ${code}`);
    },
    ...parts,
  };
}
