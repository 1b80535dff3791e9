/** Where the user's profiles are: the folder that the user names, or the one that the platform has for settings. */

import { isAbsolute, join } from 'node:path';

const NAME = 'codesign-remote';

export interface ConfigFolderOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

export function configFolder({ environment, platform, home }: ConfigFolderOptions): string {
  if (environment.CODESIGN_CONFIG_DIR) return environment.CODESIGN_CONFIG_DIR;
  switch (platform) {
    case 'win32':
      return join(environment.APPDATA || join(home, 'AppData', 'Roaming'), NAME);
    case 'darwin':
      return join(home, 'Library', 'Preferences', NAME);
    default:
      // The XDG Base Directory Specification has relative paths ignored.
      return join(absolute(environment.XDG_CONFIG_HOME) ?? join(home, '.config'), NAME);
  }
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
