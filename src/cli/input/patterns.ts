/** Follows links in the part that the user typed, but not in the part that the wildcards match. */

import fs, { type Dirent, realpathSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { isAtOrBelow } from '../../bytes/folders.ts';
import { existingForm, isUtf8Name, unicodeForms } from '../../files/file-names.ts';
import { cliErrors } from '../errors.ts';

export interface PatternOptions {
  readonly recursive: boolean;
  readonly outputFolder: string | undefined;
}

export async function hasMagic(name: string): Promise<boolean> {
  if (!/[*?[\]{}()!]/.test(name)) return false;
  const { isDynamicPattern } = await import('tinyglobby');
  return isDynamicPattern(name);
}

/**
 * Returns sorted paths. Links to folders are not followed, as with `**` in bash, git and rsync. Leaves out links to
 * files elsewhere, and results of an earlier run in the output folder.
 */
export async function expandPattern(pattern: string, { recursive, outputFolder }: PatternOptions): Promise<string[]> {
  const { glob } = await import('tinyglobby');
  const { default: picomatch } = await import('picomatch');
  // On Windows, users write backslashes in patterns, and no file name there contains one.
  const portable = sep === '\\' ? pattern.replaceAll('\\', '/') : pattern;
  const { base, glob: rest } = picomatch.scan(portable);
  const folder = existingForm(base.replace(/\\(.)/g, '$1'));
  const realFolder = realPathOf(folder === '' ? '.' : `${folder}/`);
  const unread: string[] = [];
  const found = await glob([...unicodeForms(rest)], {
    cwd: realFolder,
    expandDirectories: false,
    onlyFiles: !recursive,
    dot: false,
    followSymbolicLinks: false,
    fs: { ...fs, readdir: readdirWithLinksBelow(realFolder, (path) => unread.push(path)) },
  });
  // A folder whose name is not UTF-8 is returned as a path, so that the error names it.
  for (const path of unread) if (!(await isUtf8Name(path))) found.push(relative(realFolder, path));
  const output = outputFolder === undefined ? undefined : realPathOf(outputFolder);
  const isOutput = output !== undefined && isBelow(output, realFolder) && isFolder(output);
  const isMeant = (path: string): boolean => !(isOutput && isAtOrBelow(realPathOf(path), output));
  const matches = found.map((path) => join(folder, path)).filter(isMeant);
  if (matches.length === 0) throw cliErrors('nothing-matches', { pattern });
  return matches.sort();
}

type Callback = (error: NodeJS.ErrnoException | null, entries: Dirent[]) => void;

/** Reports a link to a file below `base` as a file. */
function readdirWithLinksBelow(base: string, onUnread: (folder: string) => void): typeof fs.readdir {
  const readdir = (folder: string, options: { readonly withFileTypes: true }, callback: Callback): void => {
    fs.readdir(folder, options, (error, entries = []) => {
      if (error) onUnread(folder);
      for (const entry of entries) {
        if (!entry.isSymbolicLink()) continue;
        const leadsTo = realPathOf(join(folder, entry.name));
        if (isBelow(leadsTo, base) && !isFolder(leadsTo)) entry.isFile = () => true;
      }
      callback(error, entries);
    });
  };
  // The crawler calls `readdir` only in this form.
  return readdir as unknown as typeof fs.readdir;
}

function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && isAtOrBelow(path, folder);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
