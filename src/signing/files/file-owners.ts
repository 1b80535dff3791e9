/** Which process a file next to a target belongs to, by its name or its content, and whether that process has certainly ended. */

import { fingerprintOf } from '../../crypto/fingerprint.ts';
import type { Holder, Processes } from '../../journal/processes.ts';

export interface FileOwnersParts {
  readonly processes: Processes;
  readonly randomHex: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** When this machine was started, in the same. */
  readonly bootTime: number;
}

export type FileOwners = ReturnType<typeof fileOwners>;

/** Machine, start of the machine, set of processes, pid, start of the process, chance; 0 for what the system does not say. */
const OWNED =
  /^\.codesign-remote-([0-9a-f]{16})-([0-9a-f]{8}|0)-([0-9a-f]{8}|0)-([1-9]\d{0,9})-(\d{1,20})-[0-9a-f]+\.(?:tmp|lock)$/;

/** `lock`: for what is about to be a lock, or was one. */
export function temporaryPathName(randomName: string, of: 'copy' | 'lock'): string {
  return `.codesign-remote-${randomName}.${of === 'copy' ? 'tmp' : 'lock'}`;
}

export function fileOwners({ processes, randomHex, now, bootTime }: FileOwnersParts) {
  const { self } = processes;
  const machine = digestOf(self.host, 16);
  const boot = partOf(self.boot);
  const space = partOf(self.space);
  const own = [machine, boot, space, self.pid, self.started ?? '0'].join('-');

  return {
    self,
    now,
    /** Unlike any other; it names this process. */
    randomName: (): string => `${own}-${randomHex()}`,

    /** Of a temporary file or a lock in the making; undefined when its name names no process, or one of another machine. */
    ownerOf(name: string): Holder | undefined {
      const [, onMachine, inBoot = '', inSpace = '', pid, started] = OWNED.exec(name) ?? [];
      if (onMachine !== machine) return undefined;
      return {
        host: self.host,
        boot: meaningOf(inBoot, self.boot),
        space: meaningOf(inSpace, self.space),
        pid: Number(pid),
        started: started === '0' ? undefined : started,
      };
    },

    /** Whether the process that last wrote a file `touched` then has ended; undefined when that cannot be known from here. */
    async hasEnded(holder: Holder, touched: number): Promise<boolean | undefined> {
      const running = await processes.isRunning(holder);
      if (running === undefined) return undefined;
      if (running || !isOtherStart(holder, self)) return !running;
      // Two machines may have one name, on a network drive say: what was written since this one was started is the other's.
      return holder.space === self.space && touched < bootTime ? true : undefined;
    },

    /** Whether a file that was last written at `touched` was written before this machine was started. */
    isFromFormerBoot: (touched: number): boolean => touched < bootTime,

    /** Whether the process is, or was, among those that this one can see. */
    isHere: ({ host, boot: inBoot, space: inSpace }: Holder): boolean =>
      host === self.host && inBoot === self.boot && inSpace === self.space,
  };
}

function isOtherStart(holder: Holder, self: Holder): boolean {
  return holder.boot !== undefined && self.boot !== undefined && holder.boot !== self.boot;
}

function partOf(value: string | undefined): string {
  return value === undefined ? '0' : digestOf(value, 8);
}

/** What the name's part stands for: this machine's own, nothing, or something else. */
function meaningOf(part: string, own: string | undefined): string | undefined {
  if (part === partOf(own)) return own;
  return part === '0' ? undefined : part;
}

function digestOf(value: string, length: number): string {
  return fingerprintOf(value).slice(0, length);
}
