import { relative, resolve, sep } from 'node:path';

/** Whether one of the patterns matches the path of a file or a folder. */
export type MatchesPath = (path: string) => boolean;

/**
 * As in .gitignore, a pattern without a slash matches names in every folder, and a pattern that matches a folder matches its content.
 * A pattern with a slash matches paths that are absolute or relative to the working folder.
 */
export async function matchesAnyOf(patterns: readonly string[]): Promise<MatchesPath> {
  if (patterns.length === 0) return () => false;
  const { default: picomatch } = await import('picomatch');
  // Names that look equal are equal, in each Unicode form.
  const portable = (path: string): string => (sep === '/' ? path : path.replaceAll(sep, '/')).normalize('NFC');
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
