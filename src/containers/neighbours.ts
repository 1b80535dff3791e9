/** The files next to a file in a container, for cabinets that continue there, and installers with external cabinets. */

import { posix } from 'node:path';
import { lazy } from '../bytes/reuse.ts';
import type { ContainedFile, Contents, FindNeighbour } from '../format/signable-file.ts';

/**
 * Returns the neighbours of each file in the container. Windows finds them whatever the case of their names.
 * `countFile` is called before a neighbour is opened.
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
