/** Keeps a log that is not read from filling the memory: a pipe takes what it can, and the rest would wait in this process. */

import type { Writable } from 'node:stream';

/** Some ten thousand lines may wait, in characters. */
const MOST_WAITING = 4 * 1024 * 1024;

/** Drops lines while too much of the log waits for its reader, and says how many once it reads again. */
export function boundedLog(stream: Pick<Writable, 'write' | 'writableLength'>): { write(line: string): void } {
  let dropped = 0;
  return {
    write(line) {
      if (stream.writableLength > MOST_WAITING) {
        dropped += 1;
        return;
      }
      if (dropped > 0) stream.write(`${JSON.stringify({ level: 40, outcome: 'log-dropped', lines: dropped })}\n`);
      dropped = 0;
      stream.write(line);
    },
  };
}
