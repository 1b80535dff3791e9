/** Whether two looks at a path saw the same file, and whether it has changed in between. */

import { statSync } from 'node:fs';
import { inFileSystem } from '../../files/file-system-errors.ts';
import type { FileStats } from '../../files/input-file.ts';
import { signingErrors } from '../errors.ts';

/** The same for all names of one file. */
export function identityOf({ dev, ino }: Pick<FileStats, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}

/** Throws `file-changed` unless `now` is the file that `before` was, untouched. */
export function assertSame(before: FileStats, now: FileStats): void {
  const same =
    identityOf(now) === identityOf(before) &&
    now.size === before.size &&
    now.mtimeNs === before.mtimeNs &&
    now.ctimeNs === before.ctimeNs;
  if (!same) throw signingErrors('file-changed');
}

/** As assertSame, for the file that the path leads to now. */
export async function assertUnchanged(path: string, before: FileStats): Promise<void> {
  assertSame(before, await inFileSystem('look at the file again', async () => statSync(path, { bigint: true })));
}
