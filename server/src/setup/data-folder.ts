import { readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { ServerError } from '../errors.ts';
import { isMissing } from '../files.ts';

export type DataFolder = ReturnType<typeof layout>;

/** Paths in a data folder. All files have mode 0600, and all folders 0700. */
export function layout(path: string) {
  return {
    path,
    pin: join(path, 'pin'),
    database: join(path, 'database.sqlite'),
    address: join(path, 'address.json'),
    authority: join(path, 'certificates', 'ca.pem'),
    tls: {
      ca: join(path, 'tls', 'ca.pem'),
      caKey: join(path, 'tls', 'ca-key.pem'),
      /** The server's own TLS certificate and private key. */
      server: join(path, 'tls', 'server.pem'),
    },
    certificate: (number: string) => join(path, 'certificates', `certificate-${number}.pem`),
  } as const;
}

/** All data of one server is in the folder `service`, which is created atomically. */
export function dataFolder(root: string): DataFolder {
  return layout(join(resolve(root), 'service'));
}

export async function readPart(folder: DataFolder, path: string, what: string): Promise<string> {
  return await part(folder, path, what, readFile(path, 'utf8'));
}

export async function readPartNames(folder: DataFolder, path: string, what: string): Promise<readonly string[]> {
  const names = await part(folder, path, what, readdir(path));
  if (names.length === 0) throw new ServerError('data-folder-incomplete', { path: folder.path, missing: what });
  return names;
}

/** Rejects an empty file. */
export async function requirePart(folder: DataFolder, path: string, what: string): Promise<void> {
  const { size } = await part(folder, path, what, stat(path));
  if (size === 0) throw new ServerError('data-folder-incomplete', { path: folder.path, missing: what });
}

async function part<T>(folder: DataFolder, path: string, what: string, work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    throw isMissing(error)
      ? new ServerError('data-folder-incomplete', { path: folder.path, missing: what }, error)
      : new ServerError('data-folder-unusable', { path }, error);
  });
}

export function defaultDataRoot(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const name = 'codesign-remote-server';
  if (platform === 'win32') return join(environment.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), name);
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', name);
  return join(environment.XDG_DATA_HOME || join(homedir(), '.local', 'share'), name);
}
