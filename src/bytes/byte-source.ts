/** Random access and sequential reading over a file or over bytes in memory. */

/**
 * Bytes of a known size. Offsets and lengths are in bytes, from 0; `end` is exclusive.
 * A chunk that `stream` yields is valid only until the next one is asked for: its memory is used again.
 */
export interface ByteSource {
  readonly size: number;
  /**
   * Exactly `length` bytes from `offset`; throws `read-past-end` when the source is shorter. `scratch` is memory that they
   * may be put into, for whoever reads much and keeps nothing; it is used when it is long enough.
   */
  read(offset: number, length: number, scratch?: Buffer): Promise<Uint8Array>;
  stream(start?: number, end?: number): AsyncIterable<Uint8Array>;
}
