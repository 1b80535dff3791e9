/** Names that Windows treats in a special way, so that a file written under them gets lost or ends up elsewhere. */

import { win32 } from 'node:path';

/** Devices that exist in every folder, with any extension and any spaces before it. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?: *(?:[.:].*)?)$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: Windows rejects them in names.
const REJECTED = /[<>:"|?*\u0000-\u001f]/;

/**
 * Says why Windows would not write a file of this path under its own name; undefined if it would. Covers every component
 * after the drive, the share or the prefix `\\?\`. Source: Microsoft, "Naming Files, Paths, and Namespaces".
 */
export function windowsNameProblem(path: string): string | undefined {
  const { root } = win32.parse(path);
  for (const name of path.slice(root.length).split(/[/\\]/)) {
    if (name === '' || name === '.' || name === '..') continue;
    if (DEVICE.test(name)) return `"${name}" is the name of a device`;
    if (REJECTED.test(name)) return `"${name}" has a character that Windows does not allow in names`;
    if (/[. ]$/.test(name)) return `Windows drops the dot or space at the end of "${name}"`;
  }
  return undefined;
}
