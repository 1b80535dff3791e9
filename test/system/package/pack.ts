/** Packs this repository with npm, once in a run of the tests, without the user's cache, so that nothing comes from there. */

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { madeOnce } from '../../support/made-once.ts';
import { REPOSITORY } from '../../support/programs/cli.ts';

const LISTING = 'listing.json';

export async function packOnce() {
  const folder = await madeOnce('package', async (made) => {
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', made];
    await writeFile(path.join(made, LISTING), await npm(args, REPOSITORY, path.join(made, 'npm-cache')));
  });
  const [packed] = JSON.parse(await readFile(path.join(folder, LISTING), 'utf8')) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  return { tarball: path.join(folder, packed.filename), files: packed.files.map((file) => file.path) };
}

export async function npm(args: readonly string[], cwd: string, cache: string): Promise<string> {
  const env = { ...process.env, npm_config_cache: cache, npm_config_update_notifier: 'false' };
  const options = { cwd, env, shell: process.platform === 'win32', maxBuffer: 16 * 1024 * 1024 };
  return (await promisify(execFile)('npm', args, options)).stdout;
}
