import { type BigIntStats, fstatSync } from 'node:fs';
import type { OpenedFile } from '../../bytes/file-source.ts';
import { versionOf } from '../../files/input-file.ts';
import { signingErrors } from '../errors.ts';

/**
 * Detects that another program has written to a file of this process. This process calls `fstat` after each of its own
 * writes. Later, the size must still be the same and, on a local file system, the times too. Other file systems may
 * report times late, so only the size is compared.
 */
export function watchWrites({ fd }: Pick<OpenedFile, 'fd'>, isLocal: boolean) {
  const created = fstatSync(fd, { bigint: true });
  const look = (): string => marksOf(fstatSync(fd, { bigint: true }), isLocal);
  let lastOwn = marksOf(created, isLocal);

  function assertUntouched(): void {
    if (look() !== lastOwn) throw signingErrors('copy-changed');
  }

  return {
    /** The metadata is read before the first write. */
    created,
    assertUntouched,
    async own(write: () => Promise<void>): Promise<void> {
      assertUntouched();
      try {
        await write();
      } finally {
        lastOwn = look();
      }
    },
  };
}

function marksOf(stats: BigIntStats, isLocal: boolean): string {
  return isLocal ? versionOf(stats) : String(stats.size);
}
