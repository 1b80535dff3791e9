import { constants, lstatSync, readlinkSync, statSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { hasCode } from '../errors/system-reason.ts';

/**
 * Returns false if the folder already exists. Node's option `recursive` never finishes in /proc, where no folder can be
 * created, and reports a read-only disk as a missing file.
 */
export async function makeFolders(path: string, mode = 0o777): Promise<boolean> {
  try {
    return await makeOne(path, mode);
  } catch (thrown) {
    const parent = dirname(path);
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw thrown;
    await makeFolders(parent, mode);
    return await makeOne(path, mode);
  }
}

async function makeOne(path: string, mode: number): Promise<boolean> {
  if (isFolder(path)) return false;
  try {
    await mkdir(path, { mode });
    return true;
  } catch (thrown) {
    if (isFolder(path)) return false;
    throw thrown;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Makes a rename or a new name survive a power failure. Windows and some file systems cannot flush a folder, but keep
 * the order of changes.
 */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  await using handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (thrown) {
    if (!hasCode(thrown, 'EINVAL', 'ENOTSUP')) throw thrown;
  }
}

/** Linux follows at most this many links in a path. */
const MOST_LINKS = 40;

/** Returns the first link that another user owns: such a link could lead to any file of the current user. */
export function foreignLink(target: string): string | undefined {
  let path = resolve(target);
  // A longer sequence of links is treated as a cycle, which the operating system rejects.
  for (let links = 0; links < MOST_LINKS; links += 1) {
    const link = firstLink(path);
    if (link === undefined) return undefined;
    if (!isTrustedOwner(link.owner)) return link.path;
    path = resolve(dirname(link.path), readlinkSync(link.path), relative(link.path, path));
  }
  return undefined;
}

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

/** Returns true on Windows, which has no numeric user identifiers. */
export function isTrustedOwner(uid: number): boolean {
  const user = process.geteuid?.();
  return user === undefined || uid === user || uid === 0;
}

export function isAtOrBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  // On Windows, the relative path to another drive is absolute.
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
