/** Lets one start at a time hand credentials over: a lock that the operating system takes back from a process that dies. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { reasonOf, serverError } from '../errors.ts';

/** How long another start may take to hand over, in milliseconds. */
const PATIENCE = 10_000;
const INTERVAL = 50;

/**
 * Runs `work` while no other process works under the lock of this data root.
 * The file stays: one that goes while somebody waits for it would lock nothing.
 * @throws `data-folder-unusable` where the lock cannot be had
 */
export async function underHandOverLock<T>(root: string, work: () => Promise<T>): Promise<T> {
  const path = join(root, '.codesign-remote-server-lock');
  const unusable = (error: unknown) => serverError('data-folder-unusable', { path, reason: reasonOf(error) }, error);
  let file: Database.Database;
  try {
    file = new Database(path); // SQLite for its locks, which need no addon of their own; nothing is written to it
  } catch (error) {
    throw unusable(error);
  }
  try {
    const deadline = performance.now() + PATIENCE;
    for (;;) {
      try {
        file.exec('BEGIN EXCLUSIVE');
        break;
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw unusable(error);
        await sleep(INTERVAL);
      }
    }
    return await work();
  } finally {
    file.close(); // gives the lock back
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';
}
