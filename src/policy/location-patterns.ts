/** Patterns for locations such as `dist/app.zip!/bin/app.exe`. */

import picomatch from 'picomatch';

/**
 * Separates the name of a container from the name of a file in it, in place of `!/`. No pattern contains this
 * separator, and `*` does not match it.
 */
const LEVEL = '\u0001/';

/**
 * Returns a function that matches a list of names, from the outermost container to the innermost file. `*` matches only
 * within one name; `**` also matches across folders and containers. A pattern without `/` matches the last name at any
 * depth. Case is ignored.
 */
export function locationPattern(pattern: string): (path: readonly string[]) => boolean {
  const isForLastName = !pattern.includes('/');
  const { source } = picomatch.makeRe(pattern.replaceAll('!/', LEVEL), { dot: true, nocase: true });
  const expression = new RegExp(source.replaceAll('[^/]', '[^/\\u0001]').replaceAll('[^\\/]', '[^/\\u0001]'), 'is');
  return (path) => {
    const location = path.join(LEVEL);
    return expression.test(isForLastName ? location.slice(location.lastIndexOf('/') + 1) : location);
  };
}
