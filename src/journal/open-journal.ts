import { join } from 'node:path';
import { claim } from './calls/claim.ts';
import { knownFor } from './calls/claim-work.ts';
import { unfinishedCalls } from './calls/unfinished-calls.ts';
import { createContext, type JournalContext, type JournalOptions } from './context.ts';
import type { Disk } from './disk.ts';
import { inJournal } from './errors.ts';
import type { Journal } from './journal.ts';

export type { JournalOptions } from './context.ts';

const PROBE_NAME = '.probe-';

/** Several times the space that one call needs. */
const PROBE = new Uint8Array(16 * 1024).fill(0x20);

/** Throws `journal-unusable` or `journal-full`. Reads nothing of the history. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  return inJournal(options.folder, () => open(options));
}

async function open(options: JournalOptions): Promise<Journal> {
  const context = createContext(options, false);
  const { disk, folders, unended, finished, history } = context;
  for (const path of [options.folder, ...Object.values(folders)]) await disk.makeFolder(path);
  await probe(options.folder, disk, options.randomId());
  await unended.look();
  await finished.removeOld(unended.since());
  await history.removeOld(options.keepDays);
  return guarded(context);
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

function guarded(context: JournalContext): Journal {
  const { guard, warnings, pairs, unended } = context;
  const { history, ...openCalls } = unfinishedCalls(context);
  const claimGuarded: Journal['claim'] = async (work, metadata, options) => {
    const { id, known, unknownCalls, justUnanswered, ...steps } = await claim(context, work, metadata, options);
    return { id, known, unknownCalls, justUnanswered, ...guardEach(guard, steps) };
  };
  return {
    warnings,
    history,
    ...guardEach(guard, {
      ...openCalls,
      claim: claimGuarded,
      knownFor: knownFor(context),
      isProven: pairs.isProven,
      mismatches: pairs.mismatches,
    }),
    ended() {
      try {
        unended.end();
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
  const context = createContext(options, true);
  const { unfinished, history } = unfinishedCalls(context);
  return { warnings: context.warnings, unfinished: () => context.guard(unfinished), history };
}
