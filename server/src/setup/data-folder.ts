/** The data folder: which file is where. Everything of one server is in the folder `service`, which appears whole or not at all. */

import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export interface DataFolder {
  /** The folder itself: token, PIN, database, certificates. Absolute, mode 0700. */
  readonly path: string;
  /** The user PIN of the token, mode 0600. */
  readonly pin: string;
  readonly database: string;
  /** The authority that issued the code-signing certificates, PEM. */
  readonly authority: string;
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

/** Whether a first start has made the data, whole. */
export async function isMade(folder: DataFolder): Promise<boolean> {
  return await access(folder.path).then(
    () => true,
    () => false,
  );
}

/** Where the platform keeps the data of a user's programs. */
export function defaultDataRoot(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const name = 'codesign-remote-server';
  if (platform === 'win32') return join(environment.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), name);
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', name);
  return join(environment.XDG_DATA_HOME || join(homedir(), '.local', 'share'), name);
}
