/** Makes names durable: a file that was flushed is lost all the same when the folder that names it was not. */

import { open } from 'node:fs/promises';

/** Flushes what a folder says of its files. Windows opens no folders and keeps their changes in its own journal. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
