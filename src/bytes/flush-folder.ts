import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasCode } from '../errors/system-reason.ts';

/** Makes a rename, or the name of a new file, durable. Windows has no handle for that, and some file systems refuse it: both keep order. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  await using handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (thrown) {
    if (!hasCode(thrown, 'EINVAL', 'ENOTSUP')) throw thrown;
  }
}
