/** Writes many short texts to a stream: some at once, and no faster than they are taken. */

import type { Writable } from 'node:stream';

const WRITTEN_AT_ONCE = 64 * 1024;

export interface BufferedWriter {
  write(text: string): Promise<void>;
  /** What is left. */
  end(): Promise<void>;
}

export function bufferedWriter(stream: Writable): BufferedWriter {
  let waiting = '';

  async function flush(): Promise<void> {
    const text = waiting;
    waiting = '';
    if (text === '' || stream.write(text) || !stream.writable) return;
    // A reader that goes away drains nothing.
    await new Promise<void>((resolve) => {
      const events = ['drain', 'close', 'error'] as const;
      const done = (): void => {
        for (const event of events) stream.off(event, done);
        resolve();
      };
      for (const event of events) stream.once(event, done);
    });
  }

  return {
    async write(text) {
      waiting += text;
      if (waiting.length >= WRITTEN_AT_ONCE) await flush();
    },
    end: flush,
  };
}
