/** What stands beside the targets while a run is at them: temporary files and locks, with their names, and their removal. */

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { uptime } from 'node:os';
import { observeProcesses } from '../journal/processes.ts';
import { folderFlushes } from '../signing/files/folder-flushes.ts';
import { type TemporaryNames, temporaryNames } from '../signing/files/left-temporary-files.ts';

interface TemporaryFiles extends TemporaryNames {
  readonly flushFolder: (folder: string) => Promise<void>;
}

export async function composeTemporaryFiles(): Promise<TemporaryFiles> {
  const names = temporaryNames({
    processes: await observeProcesses(),
    randomHex: () => randomBytes(8).toString('hex'),
    now: () => Date.now(),
    bootTime: Date.now() - uptime() * 1000,
  });
  return { ...names, flushFolder: folderFlushes() };
}

/** For a process that is about to end: what cannot be removed keeps no other from it, and is known to a later run. */
export function removeNow(paths: Iterable<string>): void {
  for (const path of paths) {
    try {
      rmSync(path, { force: true });
    } catch {
      // Nothing more can be done, or told: the process ends.
    }
  }
}
