/** Signed results of a campaign, checked by programs that share nothing with this one. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../system/interop/verifiers.ts';

export async function listSamples(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter(({ name }) => name.startsWith('sample-'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** What osslsigncode or jarsigner says against the signature in the file; undefined when it holds. No system trusts its root. */
export async function objectionTo(path: string): Promise<string | undefined> {
  const isArchive = path.endsWith('.jar');
  const [program = '', ...args] = isArchive ? ['jarsigner', '-verify'] : ['osslsigncode', 'verify', '-in'];
  const { output } = await run(program, [...args, path]);
  const [one, other] = Array.from(
    output.matchAll(/(?:Current|Calculated) message digest\s*: (\S+)/g),
    ([, digest]) => digest,
  );
  const isWhole = isArchive ? output.includes('jar verified.') : one !== undefined && one === other;
  return isWhole ? undefined : output;
}
