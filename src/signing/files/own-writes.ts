import { type BigIntStats, fstatSync } from 'node:fs';
import type { OpenedFile } from '../../bytes/file-source.ts';
import { versionOf } from '../../files/input-file.ts';
import { signingErrors } from '../errors.ts';

/**
 * Detects writes by other programs to a file that this process writes. An `fstat` follows each write of this process.
 * Later, the size must be the same, and on a local file system the times too. On other file systems, times arrive late,
 * so only the size is compared.
 */
export function watchWrites({ fd }: Pick<OpenedFile, 'fd'>, isLocal: boolean) {
  const look = (): string => marksOf(fstatSync(fd, { bigint: true }), isLocal);
  let lastOwn = look();

  /** Throws `copy-changed`. */
  function assertUntouched(): void {
    if (look() !== lastOwn) throw signingErrors('copy-changed');
  }

  return {
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
