/** Which bytes of a file a format wants digested, and the seam through which they are: types only. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { DigestAlgorithm } from './algorithms.ts';

/** Bytes from `start` up to, not including, `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface Content {
  /** Sorted, non-overlapping. */
  readonly ranges: readonly ByteRange[];
  /** Zero bytes digested after the last range although the file does not hold them (yet). */
  readonly zeroPadding: number;
}

/**
 * What can be measured in one pass over the content: the digests, and SUM16, the 16-bit one's-complement sum of the
 * content's little-endian words at even file offsets (the carry-folded core of the PE image checksum).
 */
export type Measure = ContentDigest | 'SUM16';

/** MD5 is not the API's, and no longer anybody's: it is what old signatures are held to. */
export type ContentDigest = DigestAlgorithm | 'MD5';

export interface Measurement {
  readonly digests: ReadonlyMap<ContentDigest, Uint8Array>;
  /** 0…0xffff when SUM16 was asked for, else undefined. */
  readonly sum16: number | undefined;
}

/**
 * Reads the content once and gives all the measures asked for. A format calls it instead of reading by itself, so that
 * signing can write the temporary file in the same pass, and can have digested the copy before the format asks.
 */
export type MeasureContent = (
  source: ByteSource,
  content: Content,
  measures: readonly Measure[],
) => Promise<Measurement>;
