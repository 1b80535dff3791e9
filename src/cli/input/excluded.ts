/** What `--exclude` leaves out: patterns over paths, or over names alone. */

import { relative, resolve, sep } from 'node:path';

/** Whether a path, of a file or a folder, is to be left out. */
export type IsExcluded = (path: string) => boolean;

/**
 * A pattern without a slash is for names, wherever they are, and takes folders with all that is in them, as in .gitignore;
 * another is for paths from the working folder, or absolute ones.
 */
export async function excludedBy(patterns: readonly string[]): Promise<IsExcluded> {
  if (patterns.length === 0) return () => false;
  const { default: picomatch } = await import('picomatch');
  const portable = (path: string): string => (sep === '/' ? path : path.replaceAll(sep, '/'));
  const tests = patterns.map((pattern) => {
    const written = portable(pattern).replace(/^\.\//, '').replace(/\/$/, '');
    const isMatch = picomatch([written, `${written}/**`], { dot: true, windows: false, nocase: sep !== '/' });
    if (!written.includes('/'))
      return (path: string) =>
        portable(path)
          .split('/')
          .some((name) => isMatch(name));
    return (path: string) => isMatch(portable(relative('', path))) || isMatch(portable(resolve(path)));
  });
  return (path) => tests.some((test) => test(path));
}
