/** The content of a PE file, read once for all who ask: its digests for the signatures, its sum for CheckSum. */

import type { FoundSignature } from '../../authenticode/read-authenticode.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { Content, ContentDigest, MeasureContent } from '../../crypto/content.ts';

export interface MeasuredContent {
  /** By each algorithm asked for. */
  readonly digests: ReadonlyMap<ContentDigest, Uint8Array>;
  /** SUM16. */
  readonly sum: number;
}

export async function measureFor(
  signatures: readonly FoundSignature[],
  source: ByteSource,
  content: Content,
  measure: MeasureContent,
): Promise<MeasuredContent> {
  const algorithms = new Set(signatures.flatMap(algorithmsOf));
  const { digests, sum16 } = await measure(source, content, [...algorithms, 'SUM16']);
  return { digests, sum: required(sum16) };
}

/** What was asked of `measure` is in its answer; a missing one is a fault of the program, not of the file. */
export function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('the content was not measured as asked');
  return value;
}

/** Of the signature and of those nested in it. */
function algorithmsOf({ parts, nested }: FoundSignature): readonly ContentDigest[] {
  const algorithm = parts?.contentDigestAlgorithm;
  return [...(algorithm === undefined ? [] : [algorithm]), ...nested.flatMap(algorithmsOf)];
}
