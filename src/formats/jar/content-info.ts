import type { ByteSource } from '../../bytes/byte-source.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import { type ContentDigest, collectAlgorithms, digestContents, isKnown, withinDigestLimit } from './content.ts';
import type { JarLayout } from './layout.ts';
import { type DigestStrength, strengthOf } from './manifest/digest-names.ts';

export type ContentInfo = Awaited<ReturnType<typeof readContentInfo>>;

/** `not checked`: the strongest digest is right; the others were left out, see `withinDigestLimit`. */
export type ContentState = 'right' | 'wrong' | 'without digest' | 'not checked';

export async function readContentInfo(
  source: ByteSource,
  { archive, manifest, signable }: JarLayout,
  digestEntries: DigestEntries,
) {
  /** By the index of the entry. */
  const positions: number[] = [];
  for (const [position, { index }] of signable.entries()) positions[index] = position;
  const { algorithms, add } = collectAlgorithms(signable.length);
  /** Of each digest in the manifest. In numbers: as objects, those of 180,000 files take more than 50 MB. */
  const positionsOf: number[] = [];
  const places: number[] = [];
  const nodeNames: string[] = [];
  for (const { name, digests } of manifest?.parsed.sections() ?? []) {
    const position = positions[archive.byName.get(name)?.index ?? -1] ?? -1;
    if (position < 0) continue;
    for (const digest of digests) {
      if (!isKnown(digest)) continue;
      add(position, digest.nodeName);
      positionsOf.push(position);
      places.push(digest.valueStart, digest.end);
      nodeNames.push(digest.nodeName);
    }
  }
  const { checked, isReduced } = withinDigestLimit(signable, algorithms);
  const { digestOf, damaged } = await digestOrDamaged(source, signable, checked, digestEntries);
  const isWrong = new Uint8Array(signable.length);
  /** Of two that differ, one is wrong, whichever is checked. */
  const unchecked = new Map<string, string | undefined>();
  for (const [index, position] of positionsOf.entries()) {
    const nodeName = nodeNames[index] ?? '';
    const value = manifest?.parsed.valueOf({ valueStart: places[2 * index] ?? 0, end: places[2 * index + 1] ?? 0 });
    let expected = checked[position]?.includes(nodeName) ? digestOf?.(position, nodeName) : undefined;
    if (expected === undefined) {
      const key = `${position} ${nodeName}`;
      expected = unchecked.get(key) ?? value;
      unchecked.set(key, expected);
    }
    if (value !== expected) isWrong[position] = 1;
  }
  const strengths = new Map([...new Set(algorithms)].map((list) => [list, strongest(list)]));
  return {
    /** The first file whose contents cannot be read; the others were not looked at then. */
    damaged,
    /** Of a file to sign: whether it has digests in the manifest, and all of those are right. */
    stateOf({ index }: ZipEntry): ContentState {
      const position = positions[index] ?? -1;
      if ((algorithms[position] ?? []).length === 0) return 'without digest';
      if (isWrong[position] === 1) return 'wrong';
      return isReduced(position) ? 'not checked' : 'right';
    },
    /** Of the strongest digest that it has. */
    strengthOf: ({ index }: ZipEntry): DigestStrength =>
      strengths.get(algorithms[positions[index] ?? -1] ?? []) ?? 'weak',
  };
}

function strongest(algorithms: readonly string[]): DigestStrength {
  const strengths = algorithms.map(strengthOf);
  if (strengths.includes('strong')) return 'strong';
  return strengths.includes('dated') ? 'dated' : 'weak';
}

/** What the contents cannot be digested for is part of it too. */
async function digestOrDamaged(
  ...digesting: Parameters<typeof digestContents>
): Promise<{ readonly digestOf?: ContentDigest; readonly damaged: CodesignError | undefined }> {
  try {
    return { digestOf: await digestContents(...digesting), damaged: undefined };
  } catch (thrown) {
    if (thrown instanceof CodesignError && thrown.code === 'zip-entry-damaged') return { damaged: thrown };
    throw thrown;
  }
}

/** Whether every file has a digest in the manifest, and all of those are right. Damaged contents are not. */
export function allMatch({ damaged, stateOf }: ContentInfo, { signable }: JarLayout): boolean {
  return damaged === undefined && signable.every((entry) => stateOf(entry) === 'right');
}
