/** Types only: how a format describes the bytes to digest, and the function that digests them. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { Patch } from '../bytes/patch.ts';
import type { Piece } from '../bytes/pieces.ts';
import type { DigestAlgorithm } from './algorithms.ts';

/**
 * Bytes that a digest covers, in digest order. Ranges of the file may overlap and go back; other bytes are not in the
 * file. Every iteration must yield the same pieces. If the ranges are in file order, the digest needs no extra pass
 * while the file is copied.
 */
export type Content = Iterable<Piece>;

/**
 * A digest, or SUM16: the 16-bit one's-complement sum of the ranges' little-endian words at even file offsets (the
 * carry-folded core of the PE image checksum). SUM16 ignores bytes that are not in the file, and needs ranges in file
 * order.
 */
export type Measure = ContentDigest | 'SUM16';

/** The service does not offer MD5; it is needed to verify old signatures. */
export type ContentDigest = DigestAlgorithm | 'MD5';

export interface Measurement {
  readonly digests: ReadonlyMap<ContentDigest, Uint8Array>;
  /** 0…0xffff; undefined if SUM16 was not requested. */
  readonly sum16: number | undefined;
}

/**
 * Reads the content once and returns all requested measures. A format calls it instead of reading the file directly, so
 * that signing can write the temporary file in the same pass.
 *
 * `draft` is for formats whose result contains the content at other offsets than the original. It has the edits that
 * are known without the digest. The temporary file is written with them in the same pass, and the final edits change
 * only what differs.
 */
export type MeasureContent = (
  source: ByteSource,
  content: Content,
  measures: readonly Measure[],
  draft?: () => Patch,
) => Promise<Measurement>;
