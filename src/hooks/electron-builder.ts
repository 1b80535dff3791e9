/** The `sign` hook of electron-builder: `win.signtoolOptions.sign` of version 25 and later, `win.sign` of those before. */

import { type FileOfBuild, say, signForBuild } from './sign-for-build.ts';

type Digests = readonly string[] | string | null | undefined;

/** What the hook looks at of electron-builder's CustomWindowsSignTaskConfiguration. */
export interface WindowsSignTask {
  readonly path: string;
  /** `sha1` or `sha256`: the hook is called once for each that electron-builder would sign with. */
  readonly hash?: string | undefined;
  /** Name of the product, and its web page. */
  readonly name?: string | undefined;
  readonly site?: string | null | undefined;
  readonly options?:
    | {
        /** Until version 24. */
        readonly signingHashAlgorithms?: Digests;
        /** From version 25 on. */
        readonly signtoolOptions?: { readonly signingHashAlgorithms?: Digests } | null | undefined;
      }
    | undefined;
}

/**
 * Signs a file of the build, once: electron-builder wants a SHA-1 signature below the SHA-256 one unless configured otherwise,
 * which costs twice and which no supported Windows needs. Takes a path alone, too. Throws a CodesignError.
 */
export async function sign(task: WindowsSignTask | string): Promise<void> {
  if (typeof task === 'string') return await signForBuild({ path: task });
  const asked = digestsOf(task);
  if (task.hash === 'sha1' && asked.includes('sha256')) {
    say(`${task.path} gets no SHA-1 signature in addition to the SHA-256 one`);
    return;
  }
  await signForBuild(fileOf(task, asked));
}

export default sign;

function fileOf({ path, name, site }: WindowsSignTask, asked: readonly string[]): FileOfBuild {
  // What else the environment or the profile says of the algorithm, counts.
  const isSha1 = asked.length === 1 && asked[0] === 'sha1';
  return {
    path,
    description: name || undefined,
    url: site || undefined,
    algorithm: isSha1 ? 'SHA1' : undefined,
  };
}

/** As electron-builder decides it: both when nothing is said. */
function digestsOf({ options }: WindowsSignTask): readonly string[] {
  const asked = options?.signtoolOptions?.signingHashAlgorithms ?? options?.signingHashAlgorithms ?? ['sha1', 'sha256'];
  return typeof asked === 'string' ? [asked] : asked;
}
