import { lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fingerprintOf } from '../../crypto/fingerprint.ts';
import type { Holder, Processes } from '../../journal/processes.ts';

export interface TemporaryNamesParts {
  readonly processes: Processes;
  readonly randomHex: () => string;
  readonly now: () => number;
  /** Time at which this machine was started, in milliseconds since 1970. */
  readonly bootTime: number;
}

/** The name consists of machine, boot, namespace, pid, start time and a random part. 0 stands for an unknown value. */
const OWNED =
  /^\.codesign-remote-([0-9a-f]{16})-([0-9a-f]{8}|0)-([0-9a-f]{8}|0)-([1-9]\d{0,9})-(\d{1,20})-[0-9a-f]+\.tmp$/;

/** No run needs a whole day to write one file, so a process with the same pid must be a different program. */
const STALE_FOR_CERTAIN_MILLISECONDS = 24 * 60 * 60 * 1000;

export function temporaryPathName(randomName: string): string {
  return `.codesign-remote-${randomName}.tmp`;
}

export function temporaryNames({ processes, randomHex, now, bootTime }: TemporaryNamesParts) {
  const { self } = processes;
  const machine = digestOf(self.host, 16);
  const own = [machine, partOf(self.boot), partOf(self.space), self.pid, self.started ?? '0'].join('-');
  const searched = new Set<string>();

  /** Returns undefined for names that are not those of temporary files of this machine. */
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

  async function hasEnded(owner: Holder, lastWrite: number): Promise<boolean | undefined> {
    const running = await processes.isRunning(owner);
    if (running === undefined) return undefined;
    if (running || !isOtherStart(owner, self)) return !running;
    // Two machines that use a network drive may have the same name. A file written after the boot may then come from
    // the other machine.
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
    randomName: (): string => `${own}-${randomHex()}`,

    /** Searches each folder once. Never throws: a stale file that remains is harmless. */
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

/** Replaces the hash of this machine's own value with the value. */
function meaningOf(part: string, own: string | undefined): string | undefined {
  if (part === partOf(own)) return own;
  return part === '0' ? undefined : part;
}

function digestOf(value: string, length: number): string {
  return fingerprintOf(value).slice(0, length);
}
