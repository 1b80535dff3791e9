/** The journal of this user on this machine. */

import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Journal } from '../journal/journal.ts';
import { type JournalOptions, type JournalReading, openJournal, readJournal } from '../journal/open-journal.ts';
import { observeProcesses } from '../journal/processes.ts';
import { stateFolder } from '../journal/state-folder.ts';
import { homeFolder } from '../options/home-folder.ts';
import type { Environment } from '../options/options.ts';
import { readHistoryDays } from '../options/variables.ts';
import { clock } from './clock.ts';

/** Whether there is one: to open it makes it. Throws `no-state-folder`. */
export async function hasJournal(env: Environment): Promise<boolean> {
  return stat(folderOf(env)).then(
    () => true,
    (thrown) => !(thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT'),
  );
}

/** Throws `journal-unusable`, `journal-full`, `no-state-folder`, and what CODESIGN_HISTORY_DAYS cannot be. */
export async function composeJournal(env: Environment): Promise<Journal> {
  return openJournal(await journalOptions(env));
}

/** Without making one, and without the right to write. */
export async function composeJournalReading(env: Environment): Promise<JournalReading> {
  return readJournal(await journalOptions(env));
}

async function journalOptions(env: Environment): Promise<JournalOptions> {
  return {
    folder: folderOf(env),
    now: () => new Date(),
    // Coarse ticks would part calls of runs that overlap.
    uptime: () => Number(process.hrtime.bigint()) / 1e6,
    randomId: () => randomBytes(10).toString('hex'),
    processes: await observeProcesses(),
    keepDays: readHistoryDays(env),
    runningFor: clock(),
  };
}

function folderOf(env: Environment): string {
  return stateFolder({ environment: env, platform: process.platform, home: homeFolder() });
}
