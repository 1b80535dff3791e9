/** Reads data that can only be read forwards, such as a compressed stream. */

import { type Duplex, pipeline, Readable } from 'node:stream';
import { type ByteSource, checkRange } from './byte-source.ts';

/** Pipes the source through a stream such as `createGunzip()`. The iterator throws the errors of both streams. */
export function through(source: Pick<ByteSource, 'stream'>, transform: Duplex): AsyncIterable<Buffer> {
  pipeline(Readable.from(copiesOf(source)), transform, () => undefined);
  return transform;
}

async function* copiesOf(source: Pick<ByteSource, 'stream'>): AsyncGenerator<Buffer> {
  for await (const chunk of source.stream()) yield Buffer.from(chunk);
}

/** Reading at an earlier offset opens the stream again. */
export function forwardSource(size: number, open: () => AsyncIterable<Uint8Array>): ByteSource {
  let chunks: AsyncIterator<Uint8Array> | undefined;
  let chunk: Uint8Array = new Uint8Array();
  let start = 0;

  async function next(): Promise<void> {
    start += chunk.length;
    chunks ??= open()[Symbol.asyncIterator]();
    const { value, done } = await chunks.next();
    if (done) checkRange('stream', start, 1, start);
    chunk = value;
  }

  async function restart(): Promise<void> {
    await chunks?.return?.();
    chunks = undefined;
    chunk = new Uint8Array();
    start = 0;
  }

  return {
    size,
    async read(offset, length) {
      checkRange('stream', offset, length, size);
      const bytes = Buffer.allocUnsafe(length);
      if (offset < start) await restart();
      for (let done = 0; done < length; ) {
        while (offset + done >= start + chunk.length) await next();
        const part = chunk.subarray(offset + done - start, offset + length - start);
        bytes.set(part, done);
        done += part.length;
      }
      return bytes;
    },
    async *stream(from = 0, end = size) {
      let at = 0;
      for await (const piece of open()) {
        if (at >= end) return;
        const part = piece.subarray(Math.max(0, from - at), end - at);
        at += piece.length;
        if (part.length > 0) yield part;
      }
    },
  };
}
