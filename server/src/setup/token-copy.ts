/**
 * A copy of the one file of SoftHSM's token without which its keys are lost. Each login empties that file and writes it
 * anew, with other flags only: a process killed in between leaves it empty, and no later login would find the token.
 */

import { open, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tokenFolder } from '../keys/softhsm.ts';
import { type DataFolder, isMissing } from './data-folder.ts';
import { syncFolder } from './sync-folder.ts';

/**
 * Logs in with `work`: before it, the token's file is restored from its copy where a killed login left it short;
 * after the first login that went well, the copy is made. To be called by one process at a time.
 */
export async function withTokenCopy<T>(folder: DataFolder, work: () => Promise<T>): Promise<T> {
  const copy = join(folder.path, 'token-copy');
  const [token] = await readdir(tokenFolder(folder.path)).catch(() => []); // none: that is the login's to tell
  if (token === undefined) return await work();
  const original = join(tokenFolder(folder.path), token, 'token.object');
  const kept = await read(copy);
  if (kept !== undefined && ((await read(original)) ?? Buffer.alloc(0)).length < kept.length)
    await write(original, kept);
  const result = await work();
  const written = kept === undefined ? await read(original) : undefined;
  if (written !== undefined) await write(copy, written);
  return result;
}

async function read(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whole or not at all. */
async function write(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncFolder(dirname(path));
}
