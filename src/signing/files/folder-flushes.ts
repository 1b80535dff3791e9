/** Flushing the folders of a run: what is renamed in one folder at about the same time becomes durable by one flush. */

import { shareWork } from '../../bytes/shared-work.ts';
import { flushFolder } from './temporary-file.ts';

/** Each call resolves after a flush of the folder that began when it had been made. */
export function folderFlushes(flush = flushFolder): (folder: string) => Promise<void> {
  const flushes = new Map<string, () => Promise<void>>();
  return (folder) => {
    const known = flushes.get(folder) ?? shareWork(() => flush(folder));
    flushes.set(folder, known);
    return known();
  };
}
