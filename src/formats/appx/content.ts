/** Builds the list of digests that a signature covers. Four letters precede each digest. */

import { createHash } from 'node:crypto';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { DIGEST_LENGTH, type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import type { ContentDigest, MeasureContent } from '../../crypto/measure-content.ts';
import type { Detail } from '../../format/signature.ts';
import { type ArchiveBody, tailOf } from '../../zip/edit-archive.ts';
import type { AppxPackage } from './package.ts';

const MARK = 'APPX';
const PARTS_DIGESTED: Readonly<Record<string, string>> = {
  AXPC: 'records',
  AXCD: 'directory',
  AXCT: 'content types',
  AXBM: 'block map',
  AXCI: 'code integrity catalog',
};
const NAME_LENGTH = 4;

export interface SignedBody extends ArchiveBody {
  readonly contentTypes: Uint8Array;
}

export async function measurePackage(
  source: ByteSource,
  body: SignedBody,
  { blockMap, codeIntegrity }: AppxPackage,
  algorithms: readonly ContentDigest[],
  measure: MeasureContent,
): Promise<ReadonlyMap<ContentDigest, Uint8Array>> {
  const { digests } = await measure(source, body.content, algorithms);
  const directory = tailOf(body);
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
    list.set(algorithm, Buffer.concat([Buffer.from(MARK, 'latin1'), ...named]));
  }
  return list;
}

export function describeList(
  list: Uint8Array,
  algorithm: DigestAlgorithm,
  actual: Uint8Array | undefined,
): readonly Detail[] {
  const signed = digestsIn(list, algorithm);
  const found = actual && digestsIn(actual, algorithm);
  return [...(signed ?? [])].map(([name, digest]) => {
    const result = found === undefined ? 'not computed' : found.get(name) === digest ? 'matches' : 'does not match';
    return { name: `${name}, ${PARTS_DIGESTED[name] ?? 'unknown'}`, value: `${digest} (${result})` };
  });
}

function digestsIn(list: Uint8Array, algorithm: DigestAlgorithm): ReadonlyMap<string, string> | undefined {
  const bytes = Buffer.from(list);
  const step = NAME_LENGTH + DIGEST_LENGTH[algorithm];
  const isList = bytes.toString('latin1', 0, NAME_LENGTH) === MARK && (bytes.length - NAME_LENGTH) % step === 0;
  if (!isList) return undefined;
  const digests = new Map<string, string>();
  for (let at = NAME_LENGTH; at < bytes.length; at += step) {
    const name = bytes.toString('latin1', at, at + NAME_LENGTH);
    if (!/^[A-Z]{4}$/.test(name) || digests.has(name)) return undefined;
    digests.set(name, bytes.toString('hex', at + NAME_LENGTH, at + step));
  }
  return digests;
}
