/** Which bytes of a file a format wants digested, and the seam through which they are: types only. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { Patch } from '../bytes/patch.ts';
import type { Piece } from '../bytes/pieces.ts';
import type { DigestAlgorithm } from './algorithms.ts';

/**
 * What a digest covers, in digest order: ranges of the file, which may overlap and go back, and bytes that the file does not
 * hold. Each iteration must give the same. The digest of content whose ranges are in file order costs no pass of its own
 * while the file is copied.
 */
export type Content = Iterable<Piece>;

/**
 * What can be measured in one pass over the content: the digests, and SUM16, the 16-bit one's-complement sum of the
 * ranges' little-endian words at even file offsets (the carry-folded core of the PE image checksum). Bytes that the file
 * does not hold are not summed; the ranges must be in file order.
 */
export type Measure = ContentDigest | 'SUM16';

/** MD5 is not an algorithm of the service; old signatures are checked against it. */
export type ContentDigest = DigestAlgorithm | 'MD5';

export interface Measurement {
  readonly digests: ReadonlyMap<ContentDigest, Uint8Array>;
  /** 0…0xffff if SUM16 was requested, else undefined. */
  readonly sum16: number | undefined;
}

/**
 * Reads the content once and gives all requested measures. A format calls it instead of reading by itself, so that
 * signing can write the temporary file in the same pass.
 *
 * `draft`: of formats whose result has the content in other places than the original: the edits as far as they are known
 * without the digest. The temporary file is written by them at the same time, and the final edits then change what differs.
 */
export type MeasureContent = (
  source: ByteSource,
  content: Content,
  measures: readonly Measure[],
  draft?: () => Patch,
) => Promise<Measurement>;
