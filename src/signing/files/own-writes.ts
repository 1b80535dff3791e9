import { type BigIntStats, fstatSync } from 'node:fs';
import type { OpenedFile } from '../../bytes/file-source.ts';
import { identityOf, versionOf } from '../../files/input-file.ts';
import { signingErrors } from '../errors.ts';

export type OwnWrites = ReturnType<typeof watchWrites>;

/**
 * Detects that another program has written to a file of this process. This process calls `fstat` after each of its own
 * writes. Later, the size must still be the same and, on a local file system, the times too. Other file systems may
 * report times late, so only the size is compared.
 */
export function watchWrites({ fd }: Pick<OpenedFile, 'fd'>, isLocal: boolean) {
  const created = fstatSync(fd, { bigint: true });
  const look = (): BigIntStats => fstatSync(fd, { bigint: true });
  let lastOwn = marksOf(created, isLocal);

  function assertUntouched(now: BigIntStats): void {
    if (marksOf(now, isLocal) !== lastOwn) throw signingErrors('copy-changed');
  }

  return {
    /** The metadata is read before the first write. */
    created,
    /** Throws `copy-changed` unless `now` is the metadata of this file after the last write of this process. */
    assertUntouched,
    async own(write: () => Promise<void>): Promise<void> {
      assertUntouched(look());
      try {
        await write();
      } finally {
        lastOwn = marksOf(look(), isLocal);
      }
    },
  };
}

function marksOf(stats: BigIntStats, isLocal: boolean): string {
  return isLocal ? versionOf(stats) : `${identityOf(stats)}:${stats.size}`;
}
