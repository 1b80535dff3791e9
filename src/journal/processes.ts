import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process, in words that others read. */
export interface Holder {
  readonly host: string;
  /** Differs after each start of the machine; undefined if the system does not say. */
  readonly boot?: string | undefined;
  /** The set of processes that the pid belongs to: containers have their own, on one host. Undefined where there is one set. */
  readonly space?: string | undefined;
  readonly pid: number;
  /** When the process started, in the system's own unit; undefined if the system does not say. */
  readonly started?: string | undefined;
}

export interface Processes {
  readonly self: Holder;
  /** Undefined if it cannot be known from here: another host or container, or a pid that may have been reused. */
  isRunning(holder: Holder): boolean | undefined;
}

/** What this process is, and what it knows about others. */
export function observeProcesses(): Processes {
  const self: Holder = {
    host: hostname(),
    boot: textOf('/proc/sys/kernel/random/boot_id'),
    space: orUndefined(() => readlinkSync('/proc/self/ns/pid')),
    pid: process.pid,
    started: startOf(process.pid),
  };
  return { self, isRunning: (holder) => isRunning(holder, self) };
}

function isRunning(holder: Holder, self: Holder): boolean | undefined {
  if (holder.host !== self.host) return undefined;
  if (holder.boot !== self.boot && holder.boot !== undefined && self.boot !== undefined) return false;
  if (holder.space !== self.space) return undefined;
  if (!hasPid(holder.pid)) return false;
  const started = startOf(holder.pid);
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
function startOf(pid: number): string | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended, and waits only for its parent to notice.
  if (fields?.[0] === 'Z' || fields?.[0] === 'X') return 'ended';
  return fields?.[19];
}

/** On Windows such a path is one below the current drive, where any user may have put a file. */
function textOf(path: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  return orUndefined(() => readFileSync(path, 'utf8').trim()) || undefined;
}

function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
