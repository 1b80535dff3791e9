/** A small disk of its own for a test: a tmpfs that only programs started through it see. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const IS_ROOT = process.getuid?.() === 0;
/** Runs what follows with mounts of its own. */
const UNSHARE = ['unshare', '--mount', ...(IS_ROOT ? [] : ['--user', '--map-root-user'])];

/** Containers and hardened systems may let no one mount. */
export function mayMountDisks(): boolean {
  const [command = '', ...args] = UNSHARE;
  return spawnSync(command, [...args, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
}

export type SmallDisk = Awaited<ReturnType<typeof mountSmallDisk>>;

/** Mounts `size` (as in `200k`) on an existing folder. */
export async function mountSmallDisk(folder: string, size: string) {
  const [command = '', ...args] = UNSHARE;
  // Its standard input keeps it, and with it the mount, alive.
  const script = 'mount -t tmpfs -o "size=$1" tmpfs "$2" && echo ready && exec cat > /dev/null';
  const holder = spawn(command, [...args, 'sh', '-c', script, 'sh', size, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'exit');
  const isReady = await Promise.race([once(holder.stdout, 'data').then(() => true), ended.then(() => false)]);
  if (!isReady || holder.pid === undefined) throw new Error(`no disk could be mounted on ${folder}`);
  const { pid } = holder;
  const user = IS_ROOT ? [] : ['--user', '--preserve-credentials'];
  return {
    /** Starts a program to which the folder is the disk. */
    through: ['nsenter', `--target=${pid}`, '--mount', ...user, '--'],
    /** Where the tests themselves find what is at this absolute path to such a program. */
    seenFromOutside: (path: string) => join('/proc', String(pid), 'root', path),
    async [Symbol.asyncDispose]() {
      holder.stdin.end();
      await ended;
    },
  };
}
