/** Whether two looks at a path saw the same file, and whether it has changed in between. */

import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { inFileSystem } from '../files/file-system-errors.ts';
import { signingErrors } from './errors.ts';

/** The same for all names of one file. */
export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Throws `file-changed` unless `now` is the file that `before` was, untouched. */
export function assertSame(before: BigIntStats, now: BigIntStats): void {
  const same =
    identityOf(now) === identityOf(before) &&
    now.size === before.size &&
    now.mtimeNs === before.mtimeNs &&
    now.ctimeNs === before.ctimeNs;
  if (!same) throw signingErrors('file-changed');
}

/** As assertSame, for the file that the path leads to now. */
export async function assertUnchanged(path: string, before: BigIntStats): Promise<void> {
  assertSame(before, await inFileSystem('look at the file again', () => stat(path, { bigint: true })));
}
