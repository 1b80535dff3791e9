/** Names of temporary files next to a target, and the removal of those that killed runs left. */

import { lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fingerprintOf } from '../../crypto/fingerprint.ts';
import type { Holder, Processes } from '../../journal/processes.ts';

export interface TemporaryNamesParts {
  readonly processes: Processes;
  readonly randomHex: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Start of this machine, in milliseconds since 1970. */
  readonly bootTime: number;
}

/** Machine, start of the machine, set of processes, pid, start of the process, chance; 0 for what the system does not say. */
const OWNED =
  /^\.codesign-remote-([0-9a-f]{16})-([0-9a-f]{8}|0)-([0-9a-f]{8}|0)-([1-9]\d{0,9})-(\d{1,20})-[0-9a-f]+\.tmp$/;

/** A process number may belong to another program by now; no run writes one file for a day. */
const STALE_FOR_CERTAIN_MILLISECONDS = 24 * 60 * 60 * 1000;

export function temporaryPathName(randomName: string): string {
  return `.codesign-remote-${randomName}.tmp`;
}

export function temporaryNames({ processes, randomHex, now, bootTime }: TemporaryNamesParts) {
  const { self } = processes;
  const machine = digestOf(self.host, 16);
  const own = [machine, partOf(self.boot), partOf(self.space), self.pid, self.started ?? '0'].join('-');
  const searched = new Set<string>();

  /** Undefined if the name is not that of a temporary file of a process on this machine. */
  function ownerOf(name: string): Holder | undefined {
    const [, onMachine, inBoot = '', inSpace = '', pid, started] = OWNED.exec(name) ?? [];
    if (onMachine !== machine) return undefined;
    return {
      host: self.host,
      boot: meaningOf(inBoot, self.boot),
      space: meaningOf(inSpace, self.space),
      pid: Number(pid),
      started: started === '0' ? undefined : started,
    };
  }

  /** Whether the process that wrote the file has ended; undefined if that cannot be known from here. */
  async function hasEnded(owner: Holder, lastWrite: number): Promise<boolean | undefined> {
    const running = await processes.isRunning(owner);
    if (running === undefined) return undefined;
    if (running || !isOtherStart(owner, self)) return !running;
    // On a network drive, two machines may have one name: the other one wrote what is newer than the start of this one.
    return owner.space === self.space && lastWrite < bootTime ? true : undefined;
  }

  async function isStale(path: string, owner: Holder): Promise<boolean> {
    const lastWrite = (await lstat(path)).mtimeMs;
    const isVisible = owner.boot === self.boot && owner.space === self.space;
    const isOld = now() - lastWrite > STALE_FOR_CERTAIN_MILLISECONDS;
    return (await hasEnded(owner, lastWrite)) ?? (isVisible && isOld);
  }

  async function removeIfStale(folder: string, name: string): Promise<void> {
    const owner = ownerOf(name);
    const path = join(folder, name);
    if (owner !== undefined && (await isStale(path, owner))) await unlink(path);
  }

  return {
    /** Unlike any other; it names this process. */
    randomName: (): string => `${own}-${randomHex()}`,

    /**
     * Removes the temporary files of processes that have certainly ended. Searches each folder once, and never throws: a
     * file that cannot be removed does no harm.
     */
    async removeStaleFiles(folder: string): Promise<void> {
      if (searched.has(folder)) return;
      searched.add(folder);
      const names = await readdir(folder).catch(() => []);
      for (const name of names) await removeIfStale(folder, name).catch(() => undefined);
    },
  };
}

function isOtherStart(owner: Holder, self: Holder): boolean {
  return owner.boot !== undefined && self.boot !== undefined && owner.boot !== self.boot;
}

function partOf(value: string | undefined): string {
  return value === undefined ? '0' : digestOf(value, 8);
}

/** What the part of a name stands for: this machine's own value, none, or another one. */
function meaningOf(part: string, own: string | undefined): string | undefined {
  if (part === partOf(own)) return own;
  return part === '0' ? undefined : part;
}

function digestOf(value: string, length: number): string {
  return fingerprintOf(value).slice(0, length);
}
