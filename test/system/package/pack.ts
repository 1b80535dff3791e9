/** Packs this repository with npm, without the user's cache, so that nothing comes from there. */

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY } from '../../support/programs/cli.ts';

export async function packInto(folder: string) {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const [packed] = JSON.parse(await npm(args, REPOSITORY, path.join(folder, 'npm-cache'))) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  return { tarball: path.join(folder, packed.filename), files: packed.files.map((file) => file.path) };
}

export async function npm(args: readonly string[], cwd: string, cache: string): Promise<string> {
  const env = { ...process.env, npm_config_cache: cache, npm_config_update_notifier: 'false' };
  const options = { cwd, env, shell: process.platform === 'win32', maxBuffer: 16 * 1024 * 1024 };
  return (await promisify(execFile)('npm', args, options)).stdout;
}
