/** Signed results of a campaign, checked by programs that share nothing with this one. */

import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

export async function listSamples(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter(({ name }) => name.startsWith('sample-'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** What osslsigncode or jarsigner says against the signature in the file; undefined when it holds. No system trusts its root. */
export function objectionTo(path: string): string | undefined {
  return path.endsWith('.jar') ? objectionOfJarsigner(path) : objectionOfOsslsigncode(path);
}

function objectionOfOsslsigncode(path: string): string | undefined {
  const { stdout, stderr } = spawnSync('osslsigncode', ['verify', '-in', path], { encoding: 'utf8' });
  const said = `${stdout}${stderr}`;
  const digests = [...said.matchAll(/(Current|Calculated) message digest\s*: (\S+)/g)].map(([, , digest]) => digest);
  const isWhole = digests.length >= 2 && digests[0] === digests[1];
  return isWhole ? undefined : said;
}

function objectionOfJarsigner(path: string): string | undefined {
  const { stdout, stderr } = spawnSync('jarsigner', ['-verify', path], { encoding: 'utf8' });
  return /jar verified\./.test(stdout) ? undefined : `${stdout}${stderr}`;
}
