import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';

/** Linux follows as many in one path. */
const MOST_LINKS = 40;

/**
 * The first link of another user on the way to `target`, also behind links of this one; undefined without one. Such a link
 * could lead to any file of this user.
 */
export function foreignLink(target: string): string | undefined {
  let path = resolve(target);
  // More of them are a circle, which the system refuses when the path is opened.
  for (let links = 0; links < MOST_LINKS; links += 1) {
    const link = firstLink(path);
    if (link === undefined) return undefined;
    if (!isTrustedOwner(link.owner)) return link.path;
    path = resolve(dirname(link.path), readlinkSync(link.path), relative(link.path, path));
  }
  return undefined;
}

/** The link in the path that is next to the root of the file system. */
function firstLink(path: string): { readonly path: string; readonly owner: number } | undefined {
  let at = parse(path).root;
  for (const name of relative(at, path).split(sep)) {
    at = join(at, name);
    const stats = lstatSync(at, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    if (stats.isSymbolicLink()) return { path: at, owner: stats.uid };
  }
  return undefined;
}

/** Of a file or link with this owner; true on Windows, which has no such numbers. */
export function isTrustedOwner(uid: number): boolean {
  const user = process.geteuid?.();
  return user === undefined || uid === user || uid === 0;
}

/** True for the folder itself too. Both are relative to the working folder, unless they are absolute. */
export function isAtOrBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  // On Windows the way to another drive is absolute.
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
