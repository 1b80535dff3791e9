/** Hooks for electron-builder: `sign` for Windows targets, and `afterAllArtifactBuild`. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyFile } from '../index.ts';
import { hookErrors } from './errors.ts';
import { type FileOfBuild, inFull, say, signForBuild } from './sign-for-build.ts';

type Digests = readonly string[] | string | null | undefined;

export interface WindowsSignTask {
  readonly path: string;
  readonly hash?: string | undefined;
  /**
   * False for the first signature of a file, and true for an additional one, which signtool would nest in the first.
   */
  readonly isNest?: boolean | undefined;
  /** Name of the product. `site` is the address of the product's web page. */
  readonly name?: string | undefined;
  readonly site?: string | null | undefined;
  readonly options?:
    | {
        /** Up to version 24. */
        readonly signingHashAlgorithms?: Digests;
        /** Versions 25 and 26. */
        readonly signtoolOptions?: { readonly signingHashAlgorithms?: Digests } | null | undefined;
        /** In electron-builder 27 and later, this member is an object. */
        readonly sign?: unknown;
      }
    | undefined;
}

/**
 * Signs each file only once, even if electron-builder passes it to this hook several times. A second signature would
 * cost money, and no supported version of Windows needs it. Ignores the digest algorithm that electron-builder
 * requests: an `.msi` file is passed only once, by default with SHA-1.
 */
export async function sign(task: WindowsSignTask | string): Promise<void> {
  if (typeof task === 'string') return await signForBuild({ path: task });
  if (task.isNest === true) return say(`${task.path} gets no second signature (${task.hash})`);
  await signForBuild(fileOf(task));
}

export default sign;

function fileOf({ path, name, site, options }: WindowsSignTask): FileOfBuild {
  return {
    path,
    description: name || undefined,
    url: site || undefined,
    // If undefined, the environment or the profile sets the algorithm.
    algorithm: isSha1Alone(options) ? 'SHA1' : undefined,
  };
}

function isSha1Alone(options: WindowsSignTask['options']): boolean {
  const { sign: settings } = options ?? {};
  const ofVersion27 = typeof settings === 'object' && settings !== null ? (settings as typeof options) : undefined;
  const all = ofVersion27 ?? options?.signtoolOptions ?? options;
  return [all?.signingHashAlgorithms].flat().join() === 'sha1';
}

export interface BuildResult {
  readonly outDir: string;
  readonly artifactPaths: readonly string[];
}

/** File formats for which Windows checks the signature before it runs or installs a file. */
const REQUIRED: readonly string[] = ['pe', 'msi', 'appx'];

/**
 * Throws `unsigned-in-build` if a build artifact has no intact signature, or if a program in a folder such as
 * `win-unpacked` has none. Returns no additional artifacts.
 */
export async function afterAllArtifactBuild({ outDir, artifactPaths }: BuildResult): Promise<string[]> {
  const bad: { readonly file: string; readonly isUnsigned: boolean }[] = [];
  for (const path of [...artifactPaths, ...(await unpackedFiles(outDir))]) {
    const { format, verdict, error } = await verifyFile(path, { integrityOnly: true });
    const mustBeSigned = format === null ? error?.code !== 'unsupported-format' : REQUIRED.includes(format);
    if (mustBeSigned && verdict !== 'intact')
      bad.push({ file: `${path} (${error?.message ?? verdict})`, isUnsigned: verdict === 'unsigned' });
  }
  if (bad.length === 0) return [];
  const hasUnsigned = bad.some(({ isUnsigned }) => isUnsigned);
  const hasChanged = bad.some(({ isUnsigned }) => !isUnsigned);
  const files = bad.map(({ file }) => file).join(', ');
  throw inFull('', hookErrors('unsigned-in-build', { files, hasUnsigned, hasChanged }));
}

async function unpackedFiles(outDir: string): Promise<string[]> {
  const folders = (await readdir(outDir)).filter((name) => /^win(-\w+)?-unpacked$/.test(name));
  const found = await Promise.all(
    folders.map((name) => readdir(join(outDir, name), { recursive: true, withFileTypes: true })),
  );
  return found.flat().flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
}
