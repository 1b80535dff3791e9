/** Whether the contents of a JAR's files are what the manifest says, found out for all of them in one pass. */

import type { ByteSource } from '../../bytes/byte-source.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import { type ContentDigest, digestContents, internLists, withinDigestLimit } from './content.ts';
import type { JarLayout } from './layout.ts';
import { type DigestStrength, nodeDigestName, strengthOf } from './manifest/digest-names.ts';

export interface ContentInfo {
  /** Of a file to sign: whether it has digests in the manifest, and all of those are right. */
  stateOf(entry: ZipEntry): ContentState;
  /** Of the strongest digest that it has. */
  strengthOf(entry: ZipEntry): DigestStrength;
  /** The first file whose contents cannot be had; the others were not looked at then. */
  readonly damaged: CodesignError | undefined;
}

/** `not checked`: the strongest digest is right; the others were left out, see `withinDigestLimit`. */
export type ContentState = 'right' | 'wrong' | 'without digest' | 'not checked';

const NO_ALGORITHMS: readonly string[] = [];

export async function readContentInfo(
  source: ByteSource,
  layout: JarLayout,
  digestEntries: DigestEntries,
): Promise<ContentInfo> {
  const { signable } = layout;
  const { positionOf, algorithms, expected, contradictory } = expectedDigests(layout);
  const isWrong = new Uint8Array(signable.length);
  for (const position of contradictory) isWrong[position] = 1;
  const { checked, isReduced } = withinDigestLimit(signable, algorithms);
  const { digestOf, damaged } = await digestOrDamaged(source, signable, checked, digestEntries);
  if (digestOf !== undefined) {
    for (const [position, names] of checked.entries()) {
      for (const nodeName of names) {
        if (digestOf(position, nodeName) !== expected.get(nodeName)?.[position]) isWrong[position] = 1;
      }
    }
  }
  const algorithmsOf = ({ index }: ZipEntry): readonly string[] => algorithms[positionOf[index] ?? -1] ?? NO_ALGORITHMS;
  return {
    damaged,
    stateOf(entry) {
      if (algorithmsOf(entry).length === 0) return 'without digest';
      const position = positionOf[entry.index] ?? -1;
      if (isWrong[position] === 1) return 'wrong';
      return isReduced(position) ? 'not checked' : 'right';
    },
    strengthOf(entry) {
      const strengths = algorithmsOf(entry).map(strengthOf);
      if (strengths.includes('strong')) return 'strong';
      return strengths.includes('dated') ? 'dated' : 'weak';
    },
  };
}

/** What the manifest says of the files to sign, each by its position among them. */
function expectedDigests({ archive, manifest, signable }: JarLayout) {
  /** By the index of an entry; -1 for others. */
  const positionOf = new Int32Array(archive.entries.length).fill(-1);
  for (const [position, { index }] of signable.entries()) positionOf[index] = position;
  const algorithms: (readonly string[])[] = new Array(signable.length).fill(NO_ALGORITHMS);
  /** By algorithm, in the order of the files. */
  const expected = new Map<string, (string | undefined)[]>();
  /** Of two digests by one algorithm that differ, one is wrong. */
  const contradictory = new Set<number>();
  const intern = internLists();
  for (const { name, digests } of manifest?.parsed.sections() ?? []) {
    const position = positionOf[archive.byName.get(name)?.index ?? -1] ?? -1;
    if (position < 0) continue;
    for (const { algorithm, value } of digests) {
      const nodeName = nodeDigestName(algorithm);
      if (nodeName === undefined) continue;
      algorithms[position] = intern(algorithms[position] ?? NO_ALGORITHMS, nodeName);
      const values = expected.get(nodeName) ?? new Array(signable.length);
      expected.set(nodeName, values);
      if ((values[position] ?? value) !== value) contradictory.add(position);
      values[position] = value;
    }
  }
  return { positionOf, algorithms, expected, contradictory };
}

/** What the contents cannot be digested for is part of it too. */
async function digestOrDamaged(
  source: ByteSource,
  signable: readonly ZipEntry[],
  algorithms: readonly (readonly string[])[],
  digestEntries: DigestEntries,
): Promise<{ readonly digestOf?: ContentDigest; readonly damaged: CodesignError | undefined }> {
  try {
    const algorithmsAt = (position: number): readonly string[] => algorithms[position] ?? NO_ALGORITHMS;
    return { digestOf: await digestContents(source, signable, algorithmsAt, digestEntries), damaged: undefined };
  } catch (thrown) {
    if (thrown instanceof CodesignError && thrown.code === 'zip-entry-damaged') return { damaged: thrown };
    throw thrown;
  }
}

/** Whether every file has a digest in the manifest, and all of those are right. Damaged contents are not. */
export function allMatch({ damaged, stateOf }: ContentInfo, { signable }: JarLayout): boolean {
  return damaged === undefined && signable.every((entry) => stateOf(entry) === 'right');
}
