import type { ByteSource } from '../../bytes/byte-source.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import { digestContents, isKnown, type KnownDigest, onlyDigests, sharedLists } from './content.ts';
import type { JarLayout } from './layout.ts';
import { type DigestStrength, strengthOf } from './manifest/digest-names.ts';

export type ContentInfo = Awaited<ReturnType<typeof readContentInfo>>;

export type ContentState = 'right' | 'wrong' | 'without digest';

const NONE: readonly string[] = [];

export async function readContentInfo(source: ByteSource, layout: JarLayout, digestEntries: DigestEntries) {
  const { archive, manifest, signable } = layout;
  const positions: number[] = [];
  for (const [position, { index }] of signable.entries()) positions[index] = position;
  /** Yields the digests of one file at a time: the digests of 180,000 files would take more than 50 MB. */
  function* listed(): Generator<{ readonly position: number; readonly digests: readonly KnownDigest[] }> {
    for (const { name, digests } of manifest?.parsed.sections() ?? []) {
      const position = positions[archive.byName.get(name)?.index ?? -1];
      if (position !== undefined) yield { position, digests: digests.filter(isKnown) };
    }
  }
  const algorithms = signable.map(() => NONE);
  const isWrong = new Uint8Array(signable.length);
  const compare = async (): Promise<undefined> => {
    const shared = sharedLists();
    for (const { position, digests } of listed()) {
      const list = shared(digests.map(({ nodeName }) => nodeName));
      algorithms[position] = onlyDigests(signable[position]?.name ?? '', algorithms[position] ?? NONE, list);
    }
    const digestOf = await digestContents(source, signable, algorithms, digestEntries);
    for (const { position, digests } of listed()) {
      const isRight = (digest: KnownDigest) => manifest?.parsed.valueOf(digest) === digestOf(position, digest.nodeName);
      if (!digests.every(isRight)) isWrong[position] = 1;
    }
  };
  const damaged = await compare().catch(expectedProblem);
  const strengths = new Map([...new Set(algorithms)].map((list) => [list, strongest(list)]));
  return {
    /** Why the contents could not be compared. If it is set, only the state `without digest` is reliable. */
    damaged,
    stateOf({ index }: ZipEntry): ContentState {
      const position = positions[index] ?? -1;
      if ((algorithms[position] ?? NONE).length === 0) return 'without digest';
      return isWrong[position] === 1 ? 'wrong' : 'right';
    },
    strengthOf: ({ index }: ZipEntry): DigestStrength =>
      strengths.get(algorithms[positions[index] ?? -1] ?? NONE) ?? 'weak',
  };
}

function strongest(algorithms: readonly string[]): DigestStrength {
  const strengths = algorithms.map(strengthOf);
  if (strengths.includes('strong')) return 'strong';
  return strengths.includes('dated') ? 'dated' : 'weak';
}

function expectedProblem(thrown: unknown): CodesignError {
  const isExpected =
    thrown instanceof CodesignError && ['zip-entry-damaged', 'jar-too-many-digests'].includes(thrown.code);
  if (isExpected) return thrown;
  throw thrown;
}

export function allMatch({ damaged, stateOf }: ContentInfo, { signable }: JarLayout): boolean {
  return damaged === undefined && signable.every((entry) => stateOf(entry) === 'right');
}
