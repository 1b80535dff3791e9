import { basename, sep } from 'node:path';
import { type ContainedVerdict, createWalker, outerFile } from '../containers/walk.ts';
import { filesNextTo } from '../files/files-next-to.ts';
import { openInput } from '../files/input-file.ts';
import { KINDS } from '../formats/kinds.ts';
import type { Resolved } from '../options/resolve.ts';
import type { Environment } from '../options/table.ts';
import type { ClassifiedFile, Minimum } from '../policy/classified-file.ts';
import { type Policy, readPolicy } from '../policy/policy-file.ts';
import { createClassifier } from '../policy/rules.ts';
import { unreadFile, type Verifying } from '../verifying/verify-file.ts';
import { composeVerifying } from './compose-verifying.ts';

export const LEVELS = 8;
export const MOST_FILES = 200_000;

export interface InsideResult {
  /** Each list starts with an outer file, followed by the files inside it. */
  readonly files: readonly (readonly ClassifiedFile[])[];
  readonly policy: Policy | undefined;
  /** The entries of `minimum` in the policy that the run has not reached. */
  readonly minimum: readonly Minimum[];
  readonly warnings: readonly string[];
  /** Description of where the trusted roots come from. */
  readonly roots: string | undefined;
}

/**
 * With `isAlone`, requires every file to be signed, and ignores the files inside it. Throws if the policy, the roots or
 * a revocation list cannot be read.
 */
export async function composeInside(
  settings: Resolved<'verify'>,
  env: Environment,
  { onRead, isAlone = false }: Pick<Verifying, 'onRead'> & { readonly isAlone?: boolean } = {},
) {
  const policy = settings.policy === undefined ? undefined : await readPolicy(settings.policy, KINDS);
  const roots = [...settings.roots, ...(policy?.roots ?? [])];
  const composition = await composeVerifying({ ...settings, roots }, env, onRead);
  const { verifying, rootsFrom } = composition;
  const walk = createWalker(verifying, { depth: LEVELS, files: MOST_FILES, inflated: settings.maxUnpacked });
  const classifier = createClassifier(policy, new Date().toISOString().slice(0, 10), isAlone ? 'signed' : 'duty');
  return {
    /**
     * Returns the file itself, then the files inside it. `pathInFolder` is the path below the folder that the user
     * named; patterns in the policy match this path. Does not throw.
     */
    async verify(path: string, pathInFolder = basename(path)): Promise<readonly ClassifiedFile[]> {
      const found = isAlone ? [outerFile(await composition.verifyFile(path))] : await walkFile(path, walk, onRead);
      const withSlashes = pathInFolder.split(sep).join('/');
      return found.map((file) => classifier.classify({ ...file, pathInFolder: withSlashes }));
    },
    end: (): Omit<InsideResult, 'files'> => ({
      ...{ policy, minimum: classifier.missing(), warnings: classifier.warnings(), roots: rootsFrom },
    }),
    [Symbol.asyncDispose]: () => composition[Symbol.asyncDispose](),
  };
}

/** Returns the error as the result if the file cannot be read. */
async function walkFile(
  path: string,
  walk: ReturnType<typeof createWalker>,
  onRead: Verifying['onRead'],
): Promise<readonly ContainedVerdict[]> {
  try {
    await using input = await openInput(path, (bytes, size) => onRead?.(path, bytes, size));
    await using neighbours = filesNextTo(path);
    return await walk(input.source, path, neighbours.find);
  } catch (thrown) {
    const unread = outerFile(unreadFile(path, thrown));
    return [unread];
  }
}
