import { type BigIntStats, fstatSync } from 'node:fs';
import type { OpenedFile } from '../../bytes/file-source.ts';
import { identityOf, versionOf } from '../../files/input-file.ts';
import { signingErrors } from '../errors.ts';

export type OwnWrites = ReturnType<typeof watchWrites>;

/**
 * Detects that another program has written to the file: its size and times differ from those after the last write of
 * this process. On remote file systems, only the sizes are compared, because a time may be reported late.
 */
export function watchWrites({ fd }: Pick<OpenedFile, 'fd'>, isLocal: boolean) {
  const created = fstatSync(fd, { bigint: true });
  const look = (): BigIntStats => fstatSync(fd, { bigint: true });
  let lastOwn = marksOf(created, isLocal);

  function assertUntouched(now: BigIntStats): void {
    if (marksOf(now, isLocal) !== lastOwn) throw signingErrors('copy-changed');
  }

  return {
    created,
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
