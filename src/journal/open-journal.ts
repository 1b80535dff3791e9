import { join } from 'node:path';
import { hasCode, unless } from '../errors/system-reason.ts';
import { claim } from './calls/claim.ts';
import { knownFor } from './calls/claim-work.ts';
import { unfinishedCalls } from './calls/unfinished-calls.ts';
import { createContext, type JournalContext, type JournalOptions } from './context.ts';
import type { Disk } from './disk.ts';
import { inJournal } from './errors.ts';
import type { Journal } from './journal.ts';
import { refusal } from './own-folder.ts';

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
  const { disk, folders, unended, finished, history, unreadable, warn } = context;
  for (const path of [options.folder, ...Object.values(folders)]) await disk.makeFolder(path);
  const name = PROBE_NAME + options.randomId();
  await probe(options.folder, name, disk, (path) => disk.writeNew(path, PROBE));
  for (const folder of Object.values(folders)) await probe(folder, name, disk, disk.makeEmpty);
  await unended.look();
  await finished.removeOld(unended.since());
  await history.removeOld(options.keepDays);
  await history.findUnreadable();
  for (const { message, code } of unreadable.values()) warn(`${message} [${code}]`);
  return guarded(context);
}

/** Fails on a full or read-only disk, and in an append-only folder, before any signature is requested. */
async function probe(folder: string, name: string, disk: Disk, make: (path: string) => Promise<void>): Promise<void> {
  const path = join(folder, name);
  // A killed process left its probe behind; a running one no longer needs the name.
  const left = (await disk.namesIn(folder)).filter((one) => one.startsWith(PROBE_NAME));
  await changeNames(folder, async () => {
    for (const one of left) await disk.removeFile(join(folder, one));
  });
  try {
    await make(path);
  } catch (thrown) {
    await disk.removeFile(path);
    throw thrown;
  }
  await changeNames(folder, async () => {
    await unless('ENOENT', () => disk.moveFile(path, `${path}.moved`));
    await disk.removeFile(`${path}.moved`);
  });
}

async function changeNames(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!hasCode(thrown, 'EPERM', 'EACCES')) throw thrown;
    throw refusal(folder, 'does not allow files to be renamed and removed: is it append-only (chattr +a)?');
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

export interface JournalReading extends Pick<Journal, 'unfinished' | 'history' | 'warnings'> {
  /** The error of each month of the history that cannot be read; filled while the history is read. */
  readonly unreadable: JournalContext['unreadable'];
}

/** A folder that is not there is a journal without calls. */
export function readJournal(options: JournalOptions): JournalReading {
  const context = createContext(options, true);
  const { unfinished, history } = unfinishedCalls(context);
  const { warnings, unreadable } = context;
  return { warnings, unreadable, unfinished: () => context.guard(unfinished), history };
}
