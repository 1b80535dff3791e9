/** Names for temporary files that tell whose they are, so that those of a process that was killed are known, and removed. */

import { createHash } from 'node:crypto';
import { readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Processes } from '../journal/processes.ts';

export interface TemporaryNames {
  /** Unlike any other; on Linux it names this process. */
  readonly randomName: () => string;
  /**
   * Removes what processes that have certainly ended left in a folder: of this machine, since it was started. Looks once
   * into each folder, and never throws: what cannot be removed harms nobody.
   */
  readonly removeLeft: (folder: string) => Promise<void>;
}

/** Machine, pid, start of the process, chance. */
const OWNED = /^\.codesign-remote-([0-9a-f]{16})-([1-9]\d{0,9})-(\d{1,20})-[0-9a-f]+\.tmp$/;

export function temporaryNames({ self, isRunning }: Processes, randomHex: () => string): TemporaryNames {
  const { host, boot, space, pid, started } = self;
  // Elsewhere nobody could tell whether the process with this number is still the one that made the file.
  if (boot === undefined || space === undefined || started === undefined) {
    return { randomName: randomHex, removeLeft: async () => undefined };
  }
  const machine = createHash('sha256')
    .update(JSON.stringify([host, boot, space]))
    .digest('hex')
    .slice(0, 16);
  const looked = new Set<string>();

  async function removeWhenLeft(folder: string, name: string): Promise<void> {
    const [, where, owner, since] = OWNED.exec(name) ?? [];
    if (where !== machine) return;
    if ((await isRunning({ ...self, pid: Number(owner), started: since })) !== false) return;
    await unlink(join(folder, name));
  }

  return {
    randomName: () => `${machine}-${pid}-${started}-${randomHex()}`,
    async removeLeft(folder) {
      if (looked.has(folder)) return;
      looked.add(folder);
      const names = await readdir(folder).catch(() => []);
      for (const name of names) await removeWhenLeft(folder, name).catch(() => undefined);
    },
  };
}
