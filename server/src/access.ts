import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';

export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`; // a container may run as a user without a name
  }
}

/**
 * Describes the current user, and the mode and owner of the file. If the user cannot reach the file, describes the
 * nearest folder that the user can reach.
 */
export function describeAccess(path: string): string {
  try {
    const { mode, uid, gid } = statSync(path);
    const bits = (mode & 0o7777).toString(8).padStart(4, '0');
    return `running as ${userName()}; ${path} has mode ${bits} and is owned by uid ${uid}, gid ${gid}`;
  } catch {
    const folder = dirname(path);
    return folder === path ? `running as ${userName()}` : describeAccess(folder);
  }
}
