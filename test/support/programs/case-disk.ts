/** A disk whose file system ignores case, for a test: exFAT in a file, mounted. Takes root, exfat-fuse and exfatprogs. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BYTES = 32 * 1024 * 1024;

/** Root may mount, FUSE is there, and so are both programs. */
export function mayMountCaseDisks(): boolean {
  const isRoot = process.getuid?.() === 0;
  return isRoot && existsSync('/dev/fuse') && ['mkfs.exfat', 'mount.exfat-fuse'].every(hasProgram);
}

function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', 'command -v "$0"', name]).status === 0;
}

export async function mountCaseDisk() {
  const parent = await mkdtemp(join(tmpdir(), 'codesign-exfat-'));
  const [image, folder] = [join(parent, 'image'), join(parent, 'disk')];
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' });
  let device = '';
  const release = async (): Promise<void> => {
    if (device !== '') run('losetup', '-d', device);
    await rm(parent, { recursive: true });
  };
  try {
    await using file = await open(image, 'wx');
    await file.truncate(BYTES);
    await mkdir(folder);
    run('mkfs.exfat', image);
    device = run('losetup', '-f', '--show', image).trim();
    run('mount.exfat-fuse', device, folder);
  } catch (error) {
    await release();
    throw error;
  }
  return {
    folder,
    async [Symbol.asyncDispose]() {
      run('umount', folder);
      await release();
    },
  };
}
