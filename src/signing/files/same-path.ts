/** Compares paths on file systems that may ignore case and Unicode normalization. */

import { randomBytes } from 'node:crypto';
import { closeSync, lstatSync, mkdirSync, openSync, rmdirSync, type Stats, unlinkSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { temporaryPathName } from './stale-files.ts';

/** Returns each absolute path that leads to the same file as another path in `paths`. */
export function findSamePaths(paths: Iterable<string>): ReadonlySet<string> {
  const alike = new Map<string, string[]>();
  for (const path of paths) {
    const key = folded(path);
    alike.set(key, [...(alike.get(key) ?? []), path]);
  }
  const shared = new Set<string>();
  for (const group of alike.values()) {
    for (const [index, path] of group.entries()) {
      for (const other of group.slice(index + 1)) if (isSamePath(path, other)) shared.add(path).add(other);
    }
  }
  return shared;
}

/** Ignores case, normalization, invisible characters, and dots and spaces at the end of a name. */
function folded(path: string): string {
  const shown = path.normalize('NFKD').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  const names = shown.toUpperCase().toLowerCase().normalize('NFKD').split(sep);
  return names.map((name) => name.replace(/[. ]+$/, '')).join(sep);
}

function isSamePath(path: string, other: string): boolean {
  const names = path.split(sep);
  const others = other.split(sep);
  return names.every((name, index) => {
    const otherName = others[index] ?? '';
    return name === otherName || isSameName(names.slice(0, index).join(sep) || sep, name, otherName);
  });
}

/**
 * Creates a file with one name in a new folder, and looks for the other name. If the folder cannot be created, compares
 * existing files. Without existing files, assumes that only Windows and macOS ignore case.
 */
function isSameName(folder: string, name: string, other: string): boolean {
  const [first, second] = [statsOf(join(folder, name)), statsOf(join(folder, other))];
  if ((first === undefined) !== (second === undefined)) return false;
  try {
    return tryNames(nearestFolder(folder), name, other);
  } catch {
    if (first !== undefined && second !== undefined) return first.dev === second.dev && first.ino === second.ino;
    const ignoresCase = process.platform === 'win32' || process.platform === 'darwin';
    return ignoresCase && name.toLowerCase() === other.toLowerCase();
  }
}

/** Runs synchronously, because the process must not exit before the folder is removed. */
function tryNames(folder: string, name: string, other: string): boolean {
  const probe = join(folder, temporaryPathName(`names-${randomBytes(8).toString('hex')}`));
  mkdirSync(probe, { mode: 0o700 });
  try {
    const path = join(probe, name);
    closeSync(openSync(path, 'wx', 0o600));
    try {
      return statsOf(join(probe, other)) !== undefined;
    } finally {
      unlinkSync(path);
    }
  } finally {
    rmdirSync(probe);
  }
}

function nearestFolder(path: string): string {
  const parent = dirname(path);
  return parent === path || statsOf(path) !== undefined ? path : nearestFolder(parent);
}

function statsOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
