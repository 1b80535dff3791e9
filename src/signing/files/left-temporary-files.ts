/** Files next to the targets name their process, so that those of a process that was killed are recognised and removed. */

import { lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileOwners, type FileOwnersParts, fileOwners } from './file-owners.ts';
import { LOCK_NAME, targetLocks } from './target-lock.ts';

/** Of a process whose number another program may have by now: no run writes that long to one file. */
const LEFT_FOR_CERTAIN_MILLISECONDS = 24 * 60 * 60 * 1000;

export function temporaryNames(parts: FileOwnersParts) {
  const owners = fileOwners(parts);
  const { lockTarget, removeStale } = targetLocks(owners);
  const looked = new Set<string>();

  async function removeWhenLeft(folder: string, name: string): Promise<void> {
    const path = join(folder, name);
    if (LOCK_NAME.test(name)) await removeStale(path);
    else if (await isLeft(path, name, owners)) await unlink(path);
  }

  return {
    randomName: owners.randomName,
    lockTarget,
    /**
     * Removes what processes have left in a folder that have certainly ended. Looks once into each folder, and never
     * throws: what cannot be removed does no harm.
     */
    async removeLeft(folder: string): Promise<void> {
      if (looked.has(folder)) return;
      looked.add(folder);
      const names = await readdir(folder).catch(() => []);
      for (const name of names) await removeWhenLeft(folder, name).catch(() => undefined);
    },
  };
}

async function isLeft(path: string, name: string, owners: FileOwners): Promise<boolean> {
  const owner = owners.ownerOf(name);
  if (owner === undefined) return false;
  const touched = (await lstat(path)).mtimeMs;
  const hasEnded = await owners.hasEnded(owner, touched);
  return hasEnded ?? (owners.isHere(owner) && owners.now() - touched > LEFT_FOR_CERTAIN_MILLISECONDS);
}
