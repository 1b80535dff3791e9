import type { ByteSource } from '../../bytes/byte-source.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import {
  algorithmsOf,
  type ContentDigest,
  digestContents,
  type KnownDigest,
  type ListedEntry,
  listEntries,
  withinDigestLimit,
} from './content.ts';
import type { JarLayout } from './layout.ts';
import { type DigestStrength, strengthOf } from './manifest/digest-names.ts';

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

export async function readContentInfo(
  source: ByteSource,
  layout: JarLayout,
  digestEntries: DigestEntries,
): Promise<ContentInfo> {
  const { signable, manifest } = layout;
  const listed = listEntries(layout, manifest?.parsed);
  const algorithms = algorithmsOf(listed);
  const { checked, isReduced } = withinDigestLimit(signable, algorithms);
  const { digestOf, damaged } = await digestOrDamaged(source, signable, checked, digestEntries);
  const stateAt = ({ digests }: ListedEntry, position: number): ContentState => {
    if (digests.length === 0) return 'without digest';
    const isWrong = ({ nodeName, value }: KnownDigest): boolean =>
      checked[position]?.includes(nodeName) === true && digestOf?.(position, nodeName) !== value;
    if (isContradictory(digests) || (digestOf !== undefined && digests.some(isWrong))) return 'wrong';
    return isReduced(position) ? 'not checked' : 'right';
  };
  const strengths = new Map([...new Set(algorithms)].map((list) => [list, strongest(list)]));
  const positions: number[] = [];
  for (const [position, { index }] of signable.entries()) positions[index] = position;
  const states = listed.map(stateAt);
  return {
    damaged,
    stateOf: ({ index }) => states[positions[index] ?? -1] ?? 'without digest',
    strengthOf: ({ index }) => strengths.get(algorithms[positions[index] ?? -1] ?? []) ?? 'weak',
  };
}

/** Of two digests by one algorithm that differ, one is wrong, whichever is checked. */
function isContradictory(digests: readonly KnownDigest[]): boolean {
  if (digests.length < 2) return false;
  const values = new Map<string, string>();
  return digests.some(({ nodeName, value }) => {
    const first = values.get(nodeName) ?? value;
    values.set(nodeName, first);
    return value !== first;
  });
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
