/** Which files of the archive a signature is about, and what it speaks of that is not there. */

import type { ZipEntry } from '../../zip/entry.ts';
import { isFileName, type JarLayout } from './layout.ts';
import type { Manifest } from './manifest.ts';

export interface Coverage {
  covers(entry: ZipEntry): boolean;
  /** Files to sign that it does not speak of. */
  readonly uncovered: Listing;
  /** Files that it speaks of and the archive does not hold. */
  readonly removed: Listing;
}

/** How many there are, and the first one's name: there may be a hundred thousand. */
export interface Listing {
  readonly count: number;
  readonly first: string;
}

export function coverageOf(signatureFile: Manifest, { archive, signable }: JarLayout): Coverage {
  const isCovered = new Uint8Array(archive.entries.length);
  let [removedCount, firstRemoved] = [0, ''];
  for (const { name } of signatureFile.sections()) {
    const entry = archive.byName.get(name);
    if (entry !== undefined) isCovered[entry.index] = 1;
    else if (isFileName(name)) {
      if (removedCount === 0) firstRemoved = name;
      removedCount++;
    }
  }
  const removed = { count: removedCount, first: firstRemoved };
  const covers = ({ index }: ZipEntry): boolean => isCovered[index] === 1;
  return { covers, uncovered: listingOf(signable, (entry) => !covers(entry)), removed };
}

export function listingOf(entries: Iterable<ZipEntry>, isListed: (entry: ZipEntry) => boolean): Listing {
  let [count, first] = [0, ''];
  for (const entry of entries) {
    if (!isListed(entry)) continue;
    if (count === 0) first = entry.name;
    count++;
  }
  return { count, first };
}

/** Of names that are there already. */
export function listed(names: readonly string[]): Listing {
  return { count: names.length, first: names[0] ?? '' };
}

/** The first one, and how many more. */
export function inWords({ count, first }: Listing): string {
  return count > 1 ? `${first} and ${count - 1} more` : first;
}
