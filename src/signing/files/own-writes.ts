import { type BigIntStats, fstatSync } from 'node:fs';
import type { OpenedFile } from '../../bytes/file-source.ts';
import { versionOf } from '../../files/input-file.ts';
import { signingErrors } from '../errors.ts';

/**
 * Detects that another program writes to a file of this process. After each of its own writes, this process calls
 * `fstat`. Later the file must still have the same size and, on a local file system, the same times. Other file systems
 * may report times late, so only the size is compared on them.
 */
export function watchWrites({ fd }: Pick<OpenedFile, 'fd'>, isLocal: boolean) {
  const created = fstatSync(fd, { bigint: true });
  const look = (): string => marksOf(fstatSync(fd, { bigint: true }), isLocal);
  let lastOwn = marksOf(created, isLocal);

  function assertUntouched(): void {
    if (look() !== lastOwn) throw signingErrors('copy-changed');
  }

  return {
    /** Reads the metadata of the file before the first write. */
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
