import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { READ_WITHOUT_WAITING } from '../../bytes/read-file.ts';
import { versionOf } from '../../files/input-file.ts';
import { signingErrors } from '../errors.ts';
import type { PlannedFile } from '../planned-file.ts';
import { assertNoLinkTo } from './target.ts';

export type Versions = Pick<PlannedFile, 'path' | 'stats' | 'target' | 'targetVersion' | 'folderIdentity' | 'isLocal'>;

export function versionAt(target: string): string | undefined {
  const stats = statSync(target, { bigint: true, throwIfNoEntry: false });
  return stats && versionOf(stats);
}

/** Runs synchronously, so that only microseconds pass between this check and the rename. */
export function assertUnchanged({ path, stats, target, targetVersion, folderIdentity, isLocal }: Versions): void {
  assertNoLinkTo(target, folderIdentity);
  const version = versionOf(statSync(path, { bigint: true }));
  assertSame(version, versionOf(stats));
  assertSame(resolve(path) === target ? version : versionAt(target), targetVersion);
  if (isLocal) return;
  assertOpenedIsSame(path, versionOf(stats));
  if (targetVersion !== undefined) assertOpenedIsSame(target, targetVersion);
}

/** Only opening the file again makes a network drive ignore its cache (close-to-open consistency of NFS). */
function assertOpenedIsSame(path: string, expected: string): void {
  const fd = openSync(path, READ_WITHOUT_WAITING);
  try {
    assertSame(versionOf(fstatSync(fd, { bigint: true })), expected);
  } finally {
    closeSync(fd);
  }
}

function assertSame(version: string | undefined, expected: string | undefined): void {
  if (version !== expected) throw signingErrors('file-changed');
}
