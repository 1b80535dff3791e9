/** Whether a path is in a folder, by its text alone. */

import { isAbsolute, relative, sep } from 'node:path';

/** True for the folder itself too. Both are relative to the working folder, unless they are absolute. */
export function isAtOrBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  // On Windows the way to another drive is absolute.
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
