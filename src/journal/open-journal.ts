import { join } from 'node:path';
import { claim } from './calls/claim.ts';
import { unfinishedCalls } from './calls/unfinished-calls.ts';
import { createContext, foldersIn, type JournalContext, type JournalOptions, warningList } from './context.ts';
import { type Disk, openDisk } from './disk.ts';
import { inJournal } from './errors.ts';
import { lookForUnendedRuns, noUnendedRuns } from './history/unended-runs.ts';
import type { Journal, ProvenPair } from './journal.ts';

export type { JournalOptions } from './context.ts';

const PROBE_NAME = '.probe-';

/** Several times the space that one call needs. */
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
  const context = createContext(options, { disk, warn, run, unended, isReadOnly: false });
  await context.finished.removeOld(unended.since);
  await context.history.removeOld(options.keepDays);
  return guarded(context, warnings);
}

/** Fails on a full or read-only disk before any signature is requested. */
async function probe(folder: string, disk: Disk, id: string): Promise<void> {
  const path = join(folder, `${PROBE_NAME}${id}`);
  // A killed process left its probe behind; a running one no longer needs the name.
  const left = (await disk.namesIn(folder)).filter((name) => name.startsWith(PROBE_NAME));
  for (const name of left) await disk.removeFile(join(folder, name)).catch(() => undefined);
  try {
    await disk.writeNew(path, PROBE);
  } finally {
    await disk.removeFile(path);
  }
}

function guarded(context: JournalContext, warnings: readonly string[]): Journal {
  const { guard } = context;
  const { history, ...openCalls } = unfinishedCalls(context);
  const isProven = (pair: ProvenPair) => context.proven.has(pair);
  const claimGuarded: Journal['claim'] = async (work, metadata, options) => {
    const { id, known, unknownCalls, justUnanswered, ...steps } = await claim(context, work, metadata, options);
    return { id, known, unknownCalls, justUnanswered, ...guardEach(guard, steps) };
  };
  return {
    warnings,
    history,
    ...guardEach(guard, { ...openCalls, claim: claimGuarded, isProven }),
    ended() {
      try {
        context.unended.end();
      } catch {
        // A run that still counts as unended costs nothing.
      }
    },
  };
}

type Methods = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;

function guardEach<M extends Methods>(guard: JournalContext['guard'], methods: M): M {
  const guarded = Object.entries(methods).map(([name, method]) => [
    name,
    (...args: never[]) => guard(() => method(...args)),
  ]);
  return Object.fromEntries(guarded) as M;
}

export type JournalReading = Pick<Journal, 'unfinished' | 'history' | 'warnings'>;

/** A folder that is not there is a journal without calls. */
export function readJournal(options: JournalOptions): JournalReading {
  const { warnings, warn } = warningList();
  const run = options.randomId();
  const context = createContext(options, {
    disk: openDisk(options.folder),
    warn,
    run,
    unended: noUnendedRuns,
    isReadOnly: true,
  });
  const { unfinished, history } = unfinishedCalls(context);
  return { warnings, unfinished: () => context.guard(unfinished), history };
}
