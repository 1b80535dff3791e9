import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isMainThread } from 'node:worker_threads';

export interface Holder {
  readonly host: string;
  /** A value that changes at each boot; undefined if the system does not report one. */
  readonly boot?: string | undefined;
  /** PID namespace, which differs between containers on the same host; undefined if there is only one. */
  readonly space?: string | undefined;
  readonly pid: number;
  /**
   * Start time in the system's own unit. If the system does not report it: the milliseconds since 1970 at which Node.js
   * started this process, but undefined in a worker thread, which does not know them.
   */
  readonly started?: string | undefined;
}

export interface Processes {
  readonly self: Holder;
  /** undefined if that is unknown: on another host, in another container, or if the pid may have been reused. */
  isRunning(holder: Holder): boolean | undefined;
}

export function observeProcesses(): Processes {
  const self: Holder = {
    host: hostname(),
    boot: textOf('/proc/sys/kernel/random/boot_id'),
    space: orUndefined(() => readlinkSync('/proc/self/ns/pid')),
    pid: process.pid,
    started: startOf(process.pid) ?? (isMainThread ? `${Math.floor(performance.timeOrigin)}` : undefined),
  };
  return { self, isRunning: (holder) => isRunning(holder, self) };
}

function isRunning(holder: Holder, self: Holder): boolean | undefined {
  if (holder.host !== self.host) return undefined;
  if (holder.boot !== self.boot && holder.boot !== undefined && self.boot !== undefined) return false;
  if (holder.space !== self.space) return undefined;
  if (!hasPid(holder.pid)) return false;
  const started = holder.pid === self.pid ? self.started : startOf(holder.pid);
  if (started === undefined || holder.started === undefined) return undefined;
  return started === holder.started;
}

/** EPERM means that the process exists but belongs to another user. */
function hasPid(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Field 22 of /proc/PID/stat, in clock ticks since boot. Field 2 is a name in parentheses with any characters. */
function startOf(pid: number): string | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie process has ended, and exists only until its parent reads its status.
  if (fields?.[0] === 'Z' || fields?.[0] === 'X') return 'ended';
  return fields?.[19];
}

/** On Windows, /proc would be a folder on the current drive, in which any user may have created such files. */
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
