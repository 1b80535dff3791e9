import type { ByteSource } from './byte-source.ts';

/** In bytes: what one read brings. */
const WINDOW_LENGTH = 1024 * 1024;

/** For reading up to the limit, mostly forwards: many small reads cost few of the source. What it gives is valid until the next `load`. */
export function slidingWindow(source: ByteSource, limit: number) {
  const scratch = Buffer.allocUnsafeSlow(Math.min(WINDOW_LENGTH, limit));
  let start = 0;
  let bytes: Buffer = scratch.subarray(0, 0);
  return {
    /** Undefined when they are not in the window. */
    view(offset: number, length: number): Buffer | undefined {
      if (offset < start || offset + length > start + bytes.length) return undefined;
      return bytes.subarray(offset - start, offset - start + length);
    },
    /** Moves the window there. */
    async load(offset: number, length: number): Promise<Buffer> {
      if (length <= 0) return scratch.subarray(0, 0);
      start = offset;
      const window = await source.read(offset, Math.min(Math.max(length, WINDOW_LENGTH), limit - offset), scratch);
      bytes = Buffer.from(window.buffer, window.byteOffset, window.length);
      return bytes.subarray(0, length);
    },
  };
}
