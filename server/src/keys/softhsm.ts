/** SoftHSM 2 as the HSM: where its library lives on each platform, and its configuration inside the data folder. */

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serverError } from '../errors.ts';

/** Where packages put the library; the first one present is taken. */
const USUAL_PLACES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: [
    '/usr/lib/softhsm/libsofthsm2.so',
    '/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so',
    '/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so',
    '/usr/lib64/pkcs11/libsofthsm2.so',
    '/usr/lib64/softhsm/libsofthsm2.so',
    '/usr/lib/pkcs11/libsofthsm2.so',
    '/usr/lib/libsofthsm2.so',
    '/usr/local/lib/softhsm/libsofthsm2.so',
  ],
  darwin: ['/opt/homebrew/lib/softhsm/libsofthsm2.so', '/usr/local/lib/softhsm/libsofthsm2.so'],
  win32: ['C:\\SoftHSM2\\lib\\softhsm2-x64.dll', 'C:\\Program Files\\SoftHSM2\\lib\\softhsm2-x64.dll'],
};

/**
 * The library to load: the one given, else the first of the platform's usual places.
 * @throws `pkcs11-library-not-found`
 */
export function findSoftHsm(given: string | undefined, platform: NodeJS.Platform = process.platform): string {
  const places = given === undefined ? (USUAL_PLACES[platform] ?? []) : [given];
  const found = places.find((path) => existsSync(path));
  if (found === undefined) {
    throw serverError('pkcs11-library-not-found', { looked: places.join(', ') || 'nothing on this platform' });
  }
  return found;
}

/**
 * Writes SoftHSM's configuration for the tokens in `folder` and points SOFTHSM2_CONF of this process to it.
 * Written at each start, since it holds the folder's absolute path and a data folder may be moved.
 */
export async function configureSoftHsm(folder: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const path = join(folder, 'softhsm2.conf');
  const lines = [
    `directories.tokendir = ${tokenFolder(folder)}`,
    'objectstore.backend = file',
    'log.level = ERROR',
    '',
  ];
  await writeFile(path, lines.join('\n'), { mode: 0o600 });
  environment.SOFTHSM2_CONF = path;
}

/** The folder in which SoftHSM keeps its tokens. */
export function tokenFolder(folder: string): string {
  return join(folder, 'tokens');
}
