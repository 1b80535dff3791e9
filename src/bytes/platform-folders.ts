import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const NAME = 'codesign-remote';

interface PlatformFolderOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string | undefined;
}

/**
 * Returns undefined if there is no home folder, as in some containers, or if HOME is relative. With a relative HOME, a
 * cloned repository could contain the user's settings.
 */
export function homeFolder(): string | undefined {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

export function configFolder({ environment, platform, home }: PlatformFolderOptions): string | undefined {
  if (environment.CODESIGN_CONFIG_DIR) return environment.CODESIGN_CONFIG_DIR;
  if (platform === 'win32') return below(environment.APPDATA || below(home, 'AppData', 'Roaming'), NAME);
  if (platform === 'darwin') return below(home, 'Library', 'Preferences', NAME);
  return below(absolute(environment.XDG_CONFIG_HOME) ?? below(home, '.config'), NAME);
}

export function stateFolder({ environment, platform, home }: PlatformFolderOptions): string | undefined {
  if (environment.CODESIGN_STATE_DIR) return environment.CODESIGN_STATE_DIR;
  if (platform === 'win32') return below(environment.LOCALAPPDATA || below(home, 'AppData', 'Local'), NAME);
  if (platform === 'darwin') return below(home, 'Library', 'Application Support', NAME);
  return below(absolute(environment.XDG_STATE_HOME) ?? below(home, '.local', 'state'), NAME);
}

/** Ignores a relative path, because other users may write to the working folder. */
export function cacheFolder({ environment, platform, home }: PlatformFolderOptions): string | undefined {
  const onWindows = platform === 'win32' ? environment.LOCALAPPDATA : undefined;
  return below(absolute(environment.XDG_CACHE_HOME || onWindows || below(home, '.cache')), NAME);
}

function below(folder: string | undefined, ...names: readonly string[]): string | undefined {
  return folder === undefined ? undefined : join(folder, ...names);
}

/** The XDG Base Directory Specification requires programs to ignore relative paths. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
