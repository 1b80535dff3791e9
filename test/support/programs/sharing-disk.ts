/** A disk whose files may share their bytes (reflink), for a test: a file system in a file, mounted. Takes root, xfsprogs and btrfs-progs. */

import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What makes each; apt-get install xfsprogs btrfs-progs. */
const MAKE = { xfs: ['mkfs.xfs', '-q', '-m', 'reflink=1'], btrfs: ['mkfs.btrfs', '-q'] } as const;
export type SharingFileSystem = keyof typeof MAKE;

/** XFS takes no less. */
const LEAST_BYTES = 320 * 1024 * 1024;

export interface SharingDisk extends AsyncDisposable {
  readonly folder: string;
}

export async function mountSharingDisk(type: SharingFileSystem): Promise<SharingDisk> {
  const parent = await mkdtemp(join(tmpdir(), `codesign-${type}-`));
  const [image, folder] = [join(parent, 'image'), join(parent, 'disk')];
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'pipe' });
  try {
    await using file = await open(image, 'wx');
    await file.truncate(LEAST_BYTES);
    await mkdir(folder);
    const [make, ...options] = MAKE[type];
    run(make, ...options, image);
    run('mount', '-t', type, '-o', 'loop', image, folder);
  } catch (error) {
    await rm(parent, { recursive: true });
    throw error;
  }
  return {
    folder,
    async [Symbol.asyncDispose]() {
      run('umount', folder);
      await rm(parent, { recursive: true });
    },
  };
}

/** Whether some of a file's bytes are shared with another's, by what the file system says of its extents. */
export function isShared(path: string): boolean {
  return /\bshared\b/.test(execFileSync('filefrag', ['-v', path], { encoding: 'utf8' }));
}
