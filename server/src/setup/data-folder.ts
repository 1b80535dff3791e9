/** The data folder: which file is where. Everything of one server is in the folder `service`, which appears whole or not at all. */

import { access, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { reasonOf, serverError } from '../errors.ts';

export interface DataFolder {
  /** The folder itself: token, PIN, database, certificates. Absolute, mode 0700. */
  readonly path: string;
  /** The user PIN of the token, mode 0600. */
  readonly pin: string;
  readonly database: string;
  /** The authority that issued the code-signing certificates, PEM. */
  readonly authority: string;
  /** The time stamp authority's chain, PEM, once there is one. */
  readonly timestampAuthority: string;
  readonly tls: {
    /** What clients trust, PEM. */
    readonly ca: string;
    /** Private key of the TLS authority, mode 0600. */
    readonly caKey: string;
    /** The server's own certificate and private key in one file, so that both change at once; mode 0600. */
    readonly server: string;
  };
  /** The chain of the certificate with this number, PEM. */
  certificate(number: string): string;
}

/** The names inside a folder that holds one server's data. */
export function layout(path: string): DataFolder {
  return {
    path,
    pin: join(path, 'pin'),
    database: join(path, 'database.sqlite'),
    authority: join(path, 'certificates', 'ca.pem'),
    timestampAuthority: join(path, 'certificates', 'tsa.pem'),
    tls: {
      ca: join(path, 'tls', 'ca.pem'),
      caKey: join(path, 'tls', 'ca-key.pem'),
      server: join(path, 'tls', 'server.pem'),
    },
    certificate: (number) => join(path, 'certificates', `certificate-${number}.pem`),
  };
}

/** The data inside the folder that `--data` names. */
export function dataFolder(root: string): DataFolder {
  return layout(join(resolve(root), 'service'));
}

/** Whether a first start has made the data, whole. @throws `data-folder-unusable` where that cannot be seen */
export async function isMade(folder: DataFolder): Promise<boolean> {
  return await isPresent(folder.path);
}

/** Whether a part of the data is there. @throws `data-folder-unusable` where that cannot be seen */
export async function isPresent(path: string): Promise<boolean> {
  try {
    return await isThere(path);
  } catch (error) {
    throw serverError('data-folder-unusable', { path, reason: reasonOf(error) }, error);
  }
}

/**
 * Reads one of the files that a first start makes.
 * @param what it is, for the error
 * @throws `data-folder-incomplete`, `data-folder-unusable`
 */
export async function readPart(folder: DataFolder, path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw isMissing(error)
      ? serverError('data-folder-incomplete', { path: folder.path, missing: what }, error)
      : serverError('data-folder-unusable', { path, reason: reasonOf(error) }, error);
  }
}

/** The same for a file that something else reads, and that must not be empty. */
export async function requirePart(folder: DataFolder, path: string, what: string): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    (error: unknown) => {
      if (isMissing(error)) return 0;
      throw serverError('data-folder-unusable', { path, reason: reasonOf(error) }, error);
    },
  );
  if (size === 0) throw serverError('data-folder-incomplete', { path: folder.path, missing: what });
}

/** Whether there is such a file; an error of the system where that cannot be seen. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Only this says that a file is not there: one that this user may not see is there all the same. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Where the platform keeps the data of a user's programs. */
export function defaultDataRoot(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const name = 'codesign-remote-server';
  if (platform === 'win32') return join(environment.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), name);
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', name);
  return join(environment.XDG_DATA_HOME || join(homedir(), '.local', 'share'), name);
}
