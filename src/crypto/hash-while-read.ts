import { createHash } from 'node:crypto';
import type { ByteSource } from '../bytes/byte-source.ts';

/** Readers of archives skip the headers between entries; such gaps are read and digested too. */
const LARGEST_GAP = 64 * 1024;

export interface HashedSource {
  readonly source: ByteSource;
  /** SHA-256 of the whole source. Reads only what has not been digested yet. */
  sha256(): Promise<string>;
}

export function hashWhileRead(original: ByteSource): HashedSource {
  const { size } = original;
  const hash = createHash('sha256');
  let hashed = 0;
  let isFilling = false;

  async function update(start: number, end: number): Promise<void> {
    for await (const chunk of original.stream(start, end)) hash.update(chunk);
    hashed = end;
  }

  async function take(bytes: Uint8Array, offset: number): Promise<void> {
    const end = offset + bytes.length;
    // Bytes that others read while one reader fills a gap are digested at the end.
    if (isFilling || end <= hashed || offset - hashed > LARGEST_GAP) return;
    if (offset > hashed) {
      isFilling = true;
      await update(hashed, offset).finally(() => {
        isFilling = false;
      });
    }
    hash.update(bytes.subarray(hashed - offset));
    hashed = end;
  }

  return {
    source: {
      size,
      async read(offset, length, scratch) {
        const bytes = await original.read(offset, length, scratch);
        await take(bytes, offset);
        return bytes;
      },
      async *stream(start = 0, end = size) {
        let offset = start;
        for await (const chunk of original.stream(start, end)) {
          await take(chunk, offset);
          yield chunk;
          offset += chunk.length;
        }
      },
    },
    async sha256() {
      await update(hashed, size);
      return hash.digest('hex');
    },
  };
}
