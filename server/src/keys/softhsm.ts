import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ServerError } from '../errors.ts';
import { replaceFile } from '../files.ts';

/** Paths at which packages install the library. */
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

/** Limit in bytes. SoftHSM reads the configuration in chunks of 1023 bytes, and the line contains other text too. */
const LONGEST_PATH = 900;

/** SoftHSM's configuration cannot quote a path. With a misread path, SoftHSM would create the keys in another folder. */
export function checkTokenPath(folder: string): void {
  const path = resolve(folder);
  const found = /[#=\r\n]/.exec(path)?.[0];
  if (found !== undefined)
    throw new ServerError('data-path-unfit', { path, reason: `it contains ${JSON.stringify(found)}` });
  const length = Buffer.byteLength(path);
  if (length > LONGEST_PATH) throw new ServerError('data-path-unfit', { path, reason: `it has ${length} bytes` });
}

/** The configuration is written at each start, because it contains an absolute path and the data folder may be moved. */
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
