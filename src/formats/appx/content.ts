/** What the signature of a package covers: a list of digests, each after four letters. */

import { createHash } from 'node:crypto';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import type { ContentDigest, MeasureContent } from '../../crypto/content.ts';
import { type ArchiveBody, tailOf } from '../../zip/last-entry.ts';
import type { AppxPackage } from './package.ts';

/** A package without its signature. */
export interface SignedBody extends ArchiveBody {
  /** The contents of [Content_Types].xml in it. */
  readonly contentTypes: Uint8Array;
}

/** The list of digests by each algorithm, without MD5, which packages never use. */
export async function measurePackage(
  source: ByteSource,
  body: SignedBody,
  { comment, blockMap, codeIntegrity }: AppxPackage,
  algorithms: readonly ContentDigest[],
  measure: MeasureContent,
): Promise<ReadonlyMap<ContentDigest, Uint8Array>> {
  const { digests } = await measure(source, body.content, algorithms);
  const directory = [...tailOf(body), comment];
  const list = new Map<ContentDigest, Uint8Array>();
  for (const algorithm of algorithms) {
    const content = digests.get(algorithm);
    if (algorithm === 'MD5' || content === undefined) continue;
    const digestOf = (pieces: readonly Uint8Array[]) => {
      const hash = createHash(NODE_DIGEST_NAME[algorithm]);
      for (const piece of pieces) hash.update(piece);
      return hash.digest();
    };
    const entries: readonly (readonly [string, Uint8Array])[] = [
      ['AXPC', content],
      ['AXCD', digestOf(directory)],
      ['AXCT', digestOf([body.contentTypes])],
      ['AXBM', digestOf([blockMap.bytes])],
      ...(codeIntegrity === undefined ? [] : [['AXCI', digestOf([codeIntegrity.bytes])] as const]),
    ];
    const named = entries.flatMap(([name, digest]) => [Buffer.from(name, 'latin1'), digest]);
    list.set(algorithm, Buffer.concat([Buffer.from('APPX', 'latin1'), ...named]));
  }
  return list;
}
