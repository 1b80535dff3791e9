/** Where the journal is: the folder that the user names, or the one that the platform has for such things. */

import { join } from 'node:path';

const NAME = 'codesign-remote';

export interface StateFolderOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

export function stateFolder({ environment, platform, home }: StateFolderOptions): string {
  if (environment.CODESIGN_STATE_DIR) return environment.CODESIGN_STATE_DIR;
  switch (platform) {
    case 'win32':
      return join(environment.LOCALAPPDATA || join(home, 'AppData', 'Local'), NAME);
    case 'darwin':
      return join(home, 'Library', 'Application Support', NAME);
    default:
      // The XDG Base Directory Specification has relative paths ignored.
      return join(absolute(environment.XDG_STATE_HOME) ?? join(home, '.local', 'state'), NAME);
  }
}

function absolute(path: string | undefined): string | undefined {
  return path?.startsWith('/') ? path : undefined;
}
