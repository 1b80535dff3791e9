import { join } from 'node:path';
import type { Disk } from '../disk.ts';
import { hourOf, isHour } from './finished-calls.ts';

/** What a run finished that was killed, or that left files undone, is shared for so long with runs that come after it. */
const KEPT_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;

export interface UnendedRuns {
  /** Whether the run had not come to its end when this one began; of this one, true. */
  has(run: string): boolean;
  /** When the first of them began, as the hour that folders are named by. */
  readonly since: string | undefined;
  begin(): Promise<void>;
  /** Synchronous, so that a process can do it as its last action. */
  end(): void;
}

/** For who only reads. */
export const noUnendedRuns: UnendedRuns = {
  has: () => false,
  since: undefined,
  begin: async () => undefined,
  end: () => undefined,
};

interface UnendedRunsOptions {
  readonly folder: string;
  readonly disk: Disk;
  readonly now: () => Date;
  /** Of this opening of the journal. */
  readonly self: string;
}

/** Files are named by hour and run, so that none has to be read. */
const MARKER = /^(.{13})\.([0-9a-z]+)$/;

/** Looks once: what is begun after this run is shared with it anyway. */
export async function lookForUnendedRuns({ folder, disk, now, self }: UnendedRunsOptions): Promise<UnendedRuns> {
  const kept = new Map<string, string>();
  for (const name of await disk.namesIn(folder)) {
    const [, hour, run] = MARKER.exec(name) ?? [];
    if (hour === undefined || run === undefined || !isHour(hour)) continue;
    if (hour < hourOf(now().getTime() - KEPT_MILLISECONDS)) await disk.removeFile(join(folder, name));
    else kept.set(run, hour);
  }
  let mine: Promise<void> | undefined;
  let made: string | undefined;

  async function make(): Promise<void> {
    const path = join(folder, `${hourOf(now().getTime())}.${self}`);
    await using _file = await disk.openLines(path, 'may-exist');
    made = path;
  }

  return {
    has: (run) => run === self || kept.has(run),
    since: [...kept.values()].sort()[0],
    async begin() {
      mine ??= make();
      try {
        await mine;
      } catch (thrown) {
        mine = undefined;
        throw thrown;
      }
    },
    end() {
      mine = undefined;
      if (made !== undefined) disk.removeFileNow(made);
      made = undefined;
    },
  };
}
