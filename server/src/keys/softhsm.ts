/** SoftHSM 2 as the HSM: the path of the library on each platform, and the configuration file in the data folder. */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ServerError } from '../errors.ts';
import { replaceFile } from '../files.ts';

/** Paths at which packages install the library. The first existing path is used. */
const USUAL_PLACES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: [
    ...['/usr/lib', '/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/local/lib'].map(
      (folder) => `${folder}/softhsm/libsofthsm2.so`,
    ),
    ...['/usr/lib64/pkcs11', '/usr/lib/pkcs11', '/usr/lib'].map((folder) => `${folder}/libsofthsm2.so`),
  ],
  darwin: ['/opt/homebrew/lib/softhsm/libsofthsm2.so', '/usr/local/lib/softhsm/libsofthsm2.so'],
  win32: ['C:\\SoftHSM2\\lib\\softhsm2-x64.dll', 'C:\\Program Files\\SoftHSM2\\lib\\softhsm2-x64.dll'],
};

export function findSoftHsm(given: string | undefined, platform: NodeJS.Platform = process.platform): string {
  if (given !== undefined) {
    if (existsSync(given)) return given;
    throw new ServerError('pkcs11-library-unusable', { path: given, reason: 'the file does not exist' });
  }
  const places = USUAL_PLACES[platform] ?? [];
  const found = places.find((path) => existsSync(path));
  if (found === undefined) {
    throw new ServerError('pkcs11-library-not-found', { looked: places.join(', ') || 'nothing on this platform' });
  }
  return found;
}

/**
 * In bytes. SoftHSM reads its configuration in chunks of 1023 bytes, and the line with the path contains other text
 * too.
 */
const LONGEST_PATH = 900;

/**
 * Rejects a data folder whose path SoftHSM would misread, because SoftHSM's configuration cannot quote a path. Call
 * this before anything is created, because SoftHSM would otherwise create the keys in a different folder.
 */
export function checkTokenPath(folder: string): void {
  const path = resolve(folder);
  const found = /[#=\r\n]/.exec(path)?.[0];
  if (found !== undefined)
    throw new ServerError('data-path-unfit', { path, reason: `it contains ${JSON.stringify(found)}` });
  const length = Buffer.byteLength(path);
  if (length > LONGEST_PATH) throw new ServerError('data-path-unfit', { path, reason: `it has ${length} bytes` });
}

/**
 * Writes SoftHSM's configuration for the tokens in `folder`, and sets SOFTHSM2_CONF of this process to its path. The
 * file is written at each start, because it contains the absolute path, and a data folder may be moved.
 */
export async function configureSoftHsm(folder: string, environment: NodeJS.ProcessEnv): Promise<void> {
  checkTokenPath(folder);
  const path = join(folder, 'softhsm2.conf');
  const lines = [
    `directories.tokendir = ${tokenFolder(folder)}`,
    'objectstore.backend = file',
    'log.level = ERROR',
    '',
  ];
  await replaceFile(path, lines.join('\n')); // another server may be reading it
  environment.SOFTHSM2_CONF = path;
}

export function tokenFolder(folder: string): string {
  return join(folder, 'tokens');
}
