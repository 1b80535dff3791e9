/** Patterns for locations such as `dist/app.zip!/bin/app.exe`. */

import picomatch from 'picomatch';

/** Separates a container from a file inside, in place of `!/`. No pattern contains it, and `*` does not match it. */
const LEVEL = '\u0001/';

/**
 * Returns a function that matches the names from the outermost file inwards. `*` stays within a name; `**` also crosses
 * folders and containers. A pattern without `/` matches the last name at any depth. Case is ignored.
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
