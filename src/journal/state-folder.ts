/** Where the journal is: the folder that the user names, or the one that the platform has for such things. */

import { join } from 'node:path';
import { journalErrors } from './errors.ts';

const NAME = 'codesign-remote';

export interface StateFolderOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Undefined for a user without one. */
  readonly home: string | undefined;
}

/** Throws `no-state-folder`. */
export function stateFolder({ environment, platform, home }: StateFolderOptions): string {
  if (environment.CODESIGN_STATE_DIR) return environment.CODESIGN_STATE_DIR;
  const atHome = (...names: readonly string[]): string => {
    if (home === undefined) throw journalErrors('no-state-folder');
    return join(home, ...names);
  };
  switch (platform) {
    case 'win32':
      return join(environment.LOCALAPPDATA || atHome('AppData', 'Local'), NAME);
    case 'darwin':
      return atHome('Library', 'Application Support', NAME);
    default:
      // The XDG Base Directory Specification has relative paths ignored.
      return join(absolute(environment.XDG_STATE_HOME) ?? atHome('.local', 'state'), NAME);
  }
}

function absolute(path: string | undefined): string | undefined {
  return path?.startsWith('/') ? path : undefined;
}
