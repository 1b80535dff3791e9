/** Lets one process at a time do something: a lock that the operating system takes back from a process that dies. */

import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { reasonOf, serverError } from '../errors.ts';

/** How long others may take before it is our turn, in milliseconds. */
const PATIENCE = 10_000;
const INTERVAL = 50;

/**
 * Runs `work` while no other process works under the lock of this file.
 * The file stays: one that goes while somebody waits for it would lock nothing.
 * @throws `data-folder-unusable` where the lock cannot be had
 */
export async function underFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
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
