/** Opens the journal: its folder made and judged, what is old removed, and what it can do put together. */

import { join } from 'node:path';
import { claim } from './calls/claim.ts';
import { unfinishedCalls } from './calls/unfinished-calls.ts';
import { type Disk, openDisk } from './disk.ts';
import { inJournal } from './guard.ts';
import { lookForUnendedRuns } from './history/unended-runs.ts';
import type { Claim, Journal } from './journal.ts';
import { foldersIn, type JournalOptions, makeParts, warningList } from './make-parts.ts';
import type { JournalParts } from './parts.ts';

export type { JournalOptions } from './make-parts.ts';

const PROBE_NAME = '.probe-';

/** Room that one call needs at most, several times over. */
const PROBE = new Uint8Array(16 * 1024).fill(0x20);

/** Throws `journal-unusable` or `journal-full`. Reads nothing of the history. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  return inJournal(options.folder, () => open(options));
}

async function open(options: JournalOptions): Promise<Journal> {
  const { folder, now, randomId } = options;
  const { warnings, warn } = warningList();
  const disk = openDisk(folder);
  const folders = foldersIn(folder);
  for (const path of [folder, ...Object.values(folders)]) await disk.makeFolder(path);
  await probe(folder, disk, randomId());
  const run = randomId();
  const unended = await lookForUnendedRuns({ folder: folders.running, disk, now, self: run });
  const parts = makeParts(options, { disk, warn, run, unended, isReadOnly: false });
  await parts.finished.removeOld(unended.since);
  await parts.history.removeOld(options.keepDays);
  return guarded(parts, warnings);
}

/** What a full or read-only disk would refuse is refused here, before anything is asked of anybody. */
async function probe(folder: string, disk: Disk, id: string): Promise<void> {
  const path = join(folder, `${PROBE_NAME}${id}`);
  // A process that was killed left its own; one that runs has no further use for its name.
  const left = (await disk.namesIn(folder)).filter((name) => name.startsWith(PROBE_NAME));
  for (const name of left) await disk.removeFile(join(folder, name)).catch(() => undefined);
  try {
    await disk.writeNew(path, PROBE);
  } finally {
    await disk.removeFile(path);
  }
}

function guarded(parts: JournalParts, warnings: readonly string[]): Journal {
  const { guard } = parts;
  const unfinished = unfinishedCalls(parts);
  return {
    warnings,
    claim: async (work, facts, options) => guardedClaim(await guard(() => claim(parts, work, facts, options)), guard),
    unfinished: () => guard(() => unfinished.unfinished()),
    history: () => unfinished.history(),
    counted: (what) => guard(() => unfinished.counted(what)),
    reported: (id, status) => guard(() => unfinished.reported(id, status)),
    forget: (id, reported) => guard(() => unfinished.forget(id, reported)),
    isProven: (pair) => guard(() => parts.proven.has(pair)),
    ended() {
      try {
        parts.unended.end();
      } catch {
        // A run that still counts as unended costs nothing.
      }
    },
  };
}

function guardedClaim(given: Claim, guard: JournalParts['guard']): Claim {
  return {
    id: given.id,
    known: given.known,
    unknownCalls: given.unknownCalls,
    justUnanswered: given.justUnanswered,
    requested: () => guard(() => given.requested()),
    deferred: () => guard(() => given.deferred()),
    signed: (record) => guard(() => given.signed(record)),
    refused: (reason) => guard(() => given.refused(reason)),
    unanswered: (reason) => guard(() => given.unanswered(reason)),
    unusable: (reason) => guard(() => given.unusable(reason)),
    written: (target) => guard(() => given.written(target)),
    notWritten: (reason, changed) => guard(() => given.notWritten(reason, changed)),
    reported: (status) => guard(() => given.reported(status)),
    release: () => guard(() => given.release()),
  };
}
