import { randomUUID } from 'node:crypto';
import { access, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { codeOf, ServerError } from './errors.ts';

const PATIENCE = 10_000;
const INTERVAL = 20;

/** Replaces a file in the data folder atomically, and flushes its content and its name to disk. The mode is 0600. */
export async function replaceFile(path: string, contents: string | Uint8Array): Promise<void> {
  // Not by the process id: servers in containers that share the data folder have the same one.
  const temporary = `${path}.${randomUUID()}`;
  try {
    await writeFlushed(temporary, contents);
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw new ServerError('data-folder-unusable', { path }, error);
  }
}

/** Throws if the file exists. */
export async function writeFlushed(path: string, contents: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(contents);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A power failure could lose the name of a flushed file in an unflushed folder, except on Windows. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export async function isThere(path: string): Promise<boolean> {
  const found = access(path).then(() => true);
  return (await ifThere(path, found)) ?? false;
}

export async function readIfThere(path: string): Promise<Buffer | undefined> {
  return await ifThere(path, readFile(path));
}

async function ifThere<T>(path: string, work: Promise<T>): Promise<T | undefined> {
  return await work.catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw new ServerError('data-folder-unusable', { path }, error);
  });
}

/** After an error other than ENOENT, such as EACCES, the file may exist. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

/**
 * Runs `work` while no other process holds the lock on this file. The operating system releases the lock when the
 * process ends. The file is never removed, because another process may be waiting for its lock.
 */
export async function underFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  let file: Database.Database | undefined;
  try {
    const lock = new Database(path); // used only for SQLite's locks, which need no further addon
    file = lock;
    await retryWhileBusy(() => lock.exec('BEGIN EXCLUSIVE'));
  } catch (error) {
    file?.close();
    throw new ServerError('data-folder-unusable', { path }, error);
  }
  try {
    return await work();
  } finally {
    file.close(); // releases the lock
  }
}

/** Retries while another process holds the lock. Waiting inside SQLite would block the whole process. */
export async function retryWhileBusy(work: () => void): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_BUSY' || performance.now() > deadline) throw error;
      await sleep(INTERVAL);
    }
  }
}
