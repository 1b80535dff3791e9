import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import * as v from 'valibot';

/** The process that claimed something, in a file that others read. */
export const holderSchema = v.object({
  host: v.string(),
  /** Differs after each start of the machine; undefined if the system does not say. */
  boot: v.optional(v.string()),
  /** The set of processes that the pid belongs to: containers have their own, on one host. Undefined where there is one set. */
  space: v.optional(v.string()),
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** When the process started, in the system's own unit; undefined if the system does not say. */
  started: v.optional(v.string()),
  /** Unlike any other, also in the same process. */
  run: v.string(),
});

export type HolderOnRecord = v.InferOutput<typeof holderSchema>;
export type Holder = Omit<HolderOnRecord, 'run'>;

export interface Processes {
  readonly self: Holder;
  /** Undefined if it cannot be known from here: another host or container, or a pid that may have been reused. */
  isRunning(holder: Holder): Promise<boolean | undefined>;
}

/** What this process is, and what it knows about others. */
export async function observeProcesses(): Promise<Processes> {
  const self: Holder = {
    host: hostname(),
    boot: await textOf('/proc/sys/kernel/random/boot_id'),
    space: await readlink('/proc/self/ns/pid').catch(() => undefined),
    pid: process.pid,
    started: await startOf(process.pid),
  };
  return { self, isRunning: (holder) => isRunning(holder, self) };
}

async function isRunning(holder: Holder, self: Holder): Promise<boolean | undefined> {
  if (holder.host !== self.host) return undefined;
  if (holder.boot !== self.boot && holder.boot !== undefined && self.boot !== undefined) return false;
  if (holder.space !== self.space) return undefined;
  if (!hasPid(holder.pid)) return false;
  const started = await startOf(holder.pid);
  if (started === undefined || holder.started === undefined) return undefined;
  return started === holder.started;
}

/** A process of another user is there, too: it may not be signalled. */
function hasPid(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/**
 * Field 22 of /proc/PID/stat, in clock ticks since the machine was started. The second field, the program's name, stands
 * in parentheses and may hold anything.
 */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await textOf(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended, and waits only for its parent to notice.
  if (fields?.[0] === 'Z' || fields?.[0] === 'X') return 'ended';
  return fields?.[19];
}

/** On Windows such a path is one below the current drive, where any user may have put a file. */
async function textOf(path: string): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.trim() || undefined;
}

/**
 * Of a process that cannot be seen from here (another host, another container) it is presumed after this time without a
 * step that it has ended. A call takes half of it at most: its attempts, and the waits that the service asks for.
 */
export const PRESUMED_ENDED_MILLISECONDS = 15 * 60 * 1000;

export interface LastActivity {
  /** When something was last recorded, as ISO 8601. */
  readonly at: string;
  /** How long this process has watched that nothing is, in milliseconds: clocks of two hosts may differ. */
  readonly watched: number;
}

export type Liveness = ReturnType<typeof observeLiveness>;

export function observeLiveness(processes: Processes, run: string, now: () => Date) {
  const self: HolderOnRecord = { ...processes.self, run };
  /** What this opening of the journal is at: claims, shares and closings, by their ids. */
  const held = new Set<string>();
  return {
    self,
    held,
    /** Holds the id from now on, unless the work fails or gives nothing. */
    async hold<T>(id: string, work: () => Promise<T | undefined>): Promise<T | undefined> {
      held.add(id);
      let given: T | undefined;
      try {
        given = await work();
      } finally {
        if (given === undefined) held.delete(id);
      }
      return given;
    },
    async isHeld(holder: HolderOnRecord | undefined, id: string, { at, watched }: LastActivity): Promise<boolean> {
      if (holder === undefined) return false;
      if (holder.run === run) return held.has(id);
      const running = await processes.isRunning(holder);
      if (running === false) return false;
      // Another opening of the journal by this very process may have been left without a word.
      const certain = running === true && !(holder.pid === self.pid && holder.space === self.space);
      return certain || !isLongAgo(at, watched);
    },
  };

  function isLongAgo(at: string, watched: number): boolean {
    return watched > PRESUMED_ENDED_MILLISECONDS || now().getTime() - Date.parse(at) > PRESUMED_ENDED_MILLISECONDS;
  }
}

/** The holder in words, for a process that waits for it. */
export function inWords({ host, pid }: HolderOnRecord, self: HolderOnRecord): string {
  return host === self.host ? `process ${pid}` : `process ${pid} on ${host}`;
}
