/** Calls that ended well a short while ago: processes that were running then may use their signatures. */

import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallFiles, Place } from './call-files.ts';
import type { CallState } from './call-state.ts';
import { hasCode, makeFolder, moveFile, namesIn, type Owner, removeFile, unless } from './disk.ts';

export interface FinishedCalls {
  /** Moves the file of a call here; an older one of the same work gives way. */
  keep(place: Place): Promise<void>;
  find(work: string): Promise<CallState | undefined>;
  /** Removes what is an hour old, or older; not everything at once. */
  removeOld(): Promise<void>;
}

/** A folder an hour, named by it: 2026-11-21T14. */
const HOUR = /^\d{4}-\d{2}-\d{2}T\d{2}$/;
const HOUR_MILLISECONDS = 60 * 60 * 1000;

/** Files that one opening of the journal removes at most: a few milliseconds. */
const REMOVED_AT_ONCE = 2000;

export function finishedCalls(
  folder: string,
  calls: CallFiles,
  now: () => Date,
  owner: Owner | undefined,
): FinishedCalls {
  const hourOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 13);
  const hours = async () => (await namesIn(folder)).filter((name) => HOUR.test(name)).sort();

  return {
    async keep(place) {
      const hour = join(folder, hourOf(now().getTime()));
      const target = join(hour, `${place.work}.jsonl`);
      try {
        await moveFile(place.path, target);
      } catch (thrown) {
        if (!hasCode(thrown, 'ENOENT')) throw thrown;
        await makeFolder(hour, owner);
        await moveFile(place.path, target);
      }
    },
    async find(work) {
      // All of them: the clock may have been set since.
      for (const hour of (await hours()).reverse()) {
        const state = await calls.read({ work, aside: false, path: join(folder, hour, `${work}.jsonl`) });
        if (state !== undefined) return state;
      }
      return undefined;
    },
    async removeOld() {
      const recent = [hourOf(now().getTime()), hourOf(now().getTime() - HOUR_MILLISECONDS)];
      let left = REMOVED_AT_ONCE;
      for (const hour of await hours()) {
        if (recent.includes(hour)) continue;
        const names = (await namesIn(join(folder, hour))).slice(0, left);
        for (const name of names) await removeFile(join(folder, hour, name));
        left -= names.length;
        await unless('ENOTEMPTY', async () => unless('ENOENT', () => rmdir(join(folder, hour))));
        if (left <= 0) return;
      }
    },
  };
}
