/** Calls that ended well a short while ago: runs that were going then, and those that go on with a broken one, may use their signatures. */

import { join } from 'node:path';
import { hasCode, unless } from '../../errors/system-reason.ts';
import { CALL_FILE, type CallFiles, type CallLocation } from '../calls/call-files.ts';
import type { CallState } from '../calls/call-state.ts';
import type { Disk } from '../disk.ts';

const HOUR_MILLISECONDS = 60 * 60 * 1000;

const HOUR = /^\d{4}-\d{2}-\d{2}T\d{2}$/;

function hourOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 13);
}

/** What seems to come from the future: the clock has been set back since, or it was very wrong. */
const FUTURE_MILLISECONDS = 62 * 24 * HOUR_MILLISECONDS;

/** Files that one opening of the journal removes at most: a few milliseconds. */
const REMOVED_AT_ONCE = 2000;

export function finishedCalls(folder: string, calls: CallFiles, now: () => Date, disk: Disk) {
  const hours = async () => (await disk.namesIn(folder)).filter((name) => HOUR.test(name)).sort();

  return {
    /** Moves the file of a call here; an older one of the same work is replaced. */
    async keep(place: CallLocation): Promise<void> {
      const hour = join(folder, hourOf(now().getTime()));
      const target = join(hour, `${place.work}.jsonl`);
      try {
        await disk.moveFile(place.path, target);
      } catch (thrown) {
        if (!hasCode(thrown, 'ENOENT')) throw thrown;
        await disk.makeFolder(hour);
        await disk.moveFile(place.path, target);
      }
    },
    async find(work: string): Promise<CallState | undefined> {
      // All of them: the clock may have been set since.
      for (const hour of (await hours()).reverse()) {
        const state = await calls.read({ work, aside: undefined, path: join(folder, hour, `${work}.jsonl`) });
        if (state !== undefined) return state;
      }
      return undefined;
    },
    /** Those that ended in the hour `first`, as the folders are named, or later. */
    async *since(first: string): AsyncGenerator<CallState> {
      for (const hour of (await hours()).filter((name) => name >= first)) {
        for (const name of await disk.namesIn(join(folder, hour))) {
          const [, work] = CALL_FILE.exec(name) ?? [];
          const state = work && (await calls.read({ work, aside: undefined, path: join(folder, hour, name) }));
          if (state) yield state;
        }
      }
    },
    /** Removes what is an hour old or older and from before the hour `since`, a limited number of files at a time. */
    async removeOld(since: string | undefined): Promise<void> {
      const previous = hourOf(now().getTime() - HOUR_MILLISECONDS);
      const first = since !== undefined && since < previous ? since : previous;
      const last = hourOf(now().getTime() + FUTURE_MILLISECONDS);
      let left = REMOVED_AT_ONCE;
      for (const hour of await hours()) {
        if (hour >= first && hour <= last) continue;
        const names = (await disk.namesIn(join(folder, hour))).slice(0, left);
        for (const name of names) await disk.removeFile(join(folder, hour, name));
        left -= names.length;
        await unless('ENOTEMPTY', () => disk.removeFolder(join(folder, hour)));
        if (left <= 0) return;
      }
    },
  };
}

/** What a run finished that was killed, or that left files undone, is shared for so long with runs that come after it. */
const UNENDED_MILLISECONDS = 7 * 24 * HOUR_MILLISECONDS;

/** Files are named by hour and run, so that none has to be read. */
const MARKER = /^(\d{4}-\d{2}-\d{2}T\d{2})\.([0-9a-z]+)$/;

interface UnendedRunsOptions {
  readonly folder: string;
  readonly disk: Disk;
  readonly now: () => Date;
  /** Id of this opening of the journal. */
  readonly self: string;
}

export function unendedRuns({ folder, disk, now, self }: UnendedRunsOptions) {
  /** Hours by runs. */
  const found = new Map<string, string>();
  let mine: Promise<void> | undefined;
  let made: string | undefined;

  async function make(): Promise<void> {
    const path = join(folder, `${hourOf(now().getTime())}.${self}`);
    await disk.makeEmpty(path);
    made = path;
  }

  return {
    /** Once is enough: what is begun after this run is shared with it anyway. */
    async look(): Promise<void> {
      for (const name of await disk.namesIn(folder)) {
        const [, hour, run] = MARKER.exec(name) ?? [];
        if (hour === undefined || run === undefined) continue;
        if (hour < hourOf(now().getTime() - UNENDED_MILLISECONDS)) await disk.removeFile(join(folder, name));
        else found.set(run, hour);
      }
    },
    /** Whether the run had not come to its end when this one looked; of this one, true. */
    has: (run: string): boolean => run === self || found.has(run),
    /** When the first of them began, as the hour that folders are named by. */
    since: (): string | undefined => [...found.values()].sort()[0],
    async begin(): Promise<void> {
      mine ??= make();
      try {
        await mine;
      } catch (thrown) {
        mine = undefined;
        throw thrown;
      }
    },
    /** Synchronous, so that a process can do it as its last action. */
    end(): void {
      mine = undefined;
      if (made !== undefined) disk.removeFileNow(made);
      made = undefined;
    },
  };
}
