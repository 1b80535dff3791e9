import { posix } from 'node:path';
import { lazy } from '../bytes/reuse.ts';
import type { ContainedFile, Contents, FindNeighbour } from '../format/signable-file.ts';

/**
 * Finds the files next to a file in a container, such as the next cabinet of a set, or the cabinets of an installer.
 * Ignores the case of names, as Windows does. Calls `countFile` before it opens a file.
 */
export function neighbours(
  contents: Contents,
  outer: FindNeighbour,
  countFile: (size: number) => void,
): (name: string) => FindNeighbour {
  const byName = lazy(async () => {
    const files = new Map<string, ContainedFile>();
    for await (const file of contents.entries(outer)) files.set(file.name.toLowerCase(), file);
    return files;
  });
  return (name) => async (wanted) => {
    const path = posix.join(posix.dirname(name), wanted).toLowerCase();
    const file = wanted.includes('/') ? undefined : (await byName()).get(path);
    if (file === undefined) return undefined;
    countFile(file.size);
    return await file.open();
  };
}
