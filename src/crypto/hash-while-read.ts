import { createHash } from 'node:crypto';
import type { ByteSource } from '../bytes/byte-source.ts';

/** Headers between the entries of an archive are skipped by its readers. In bytes. */
const LARGEST_GAP = 64 * 1024;

export interface HashedSource {
  /** Reads as the original does. */
  readonly source: ByteSource;
  /** SHA-256 of the whole, in hex. Reads only what was not read in order before. */
  sha256(): Promise<string>;
}

/** Digests a source in the pass in which it is read for another reason. */
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
    // While a gap is filled, bytes of another reader wait for the end.
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
