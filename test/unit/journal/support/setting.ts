/** A journal in a temporary folder, with a clock that stands still and processes that live and die as a test says. */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Claim, HistoryEntry, Journal, Work } from '../../../../src/journal/journal.ts';
import { type JournalOptions, openJournal } from '../../../../src/journal/open-journal.ts';
import type { Holder, Processes } from '../../../../src/journal/processes.ts';
import { factsOf, SIGNATURE } from './works.ts';

export { factsAt, factsOf, SIGNATURE, workOf } from './works.ts';

type Overrides = Partial<JournalOptions & { readonly self: Partial<Holder> }>;

export interface Setting extends AsyncDisposable {
  readonly folder: string;
  /** Both clocks, in milliseconds since the start; tests set them. */
  readonly clock: { wall: number; up: number };
  /** Opens the journal as another process, which runs until its pid is in `ended`. */
  open(overrides?: Overrides): Promise<Journal>;
  /** What it is opened with. */
  options(overrides?: Overrides): JournalOptions;
  /** Pids of processes that have ended, and of those whose state cannot be known. */
  readonly ended: Set<number>;
  readonly invisible: Set<number>;
  /** Names of files below the folder, with forward slashes. */
  files(): Promise<readonly string[]>;
  /** Changes the only file of a folder of the journal. */
  tamper(folder: string, change: (text: string) => string): Promise<void>;
}

const BEGINNING = Date.UTC(2026, 10, 20, 12);

export async function journalSetting(): Promise<Setting> {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-journal-'));
  const clock = { wall: 0, up: 1_000_000 };
  const ended = new Set<number>();
  const invisible = new Set<number>();
  let ids = 0;
  let pids = 100;

  const files = async (): Promise<readonly string[]> => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return paths.map((path) => path.slice(folder.length + 1).replaceAll('\\', '/')).sort();
  };

  function options({ self, ...overrides }: Overrides = {}): JournalOptions {
    pids += 1;
    const processes: Processes = {
      self: { host: 'here', boot: 'first', pid: pids, started: `${pids}`, ...self },
      isRunning: async ({ pid }) => (invisible.has(pid) ? undefined : !ended.has(pid)),
    };
    return {
      folder,
      now: () => new Date(BEGINNING + clock.wall),
      uptime: () => clock.up,
      randomId: () => `id${String(++ids).padStart(8, '0')}`,
      processes,
      keepDays: 90,
      runningFor: 0,
      ...overrides,
    };
  }

  return {
    folder,
    clock,
    ended,
    invisible,
    files,
    options,
    open: async (overrides) => await openJournal(options(overrides)),
    async tamper(name, change) {
      const found = (await files()).filter((file) => file.startsWith(`${name}/`));
      const [only] = found;
      if (only === undefined || found.length > 1) throw new Error(`one file expected in ${name}: ${found}`);
      const path = join(folder, only);
      await writeFile(path, change(await readFile(path, 'latin1')), 'latin1');
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Asks for the signature, as if the service had given it. */
export async function sign(claim: Claim, record: string | undefined = `record-of-${claim.id}`): Promise<void> {
  await claim.requested();
  await claim.signed({ signature: SIGNATURE, record });
}

/** The whole way of one file. */
export async function signAndReport(journal: Journal, work: Work, file: string): Promise<Claim> {
  const claim = await journal.claim(work, factsOf(file));
  if (claim.known === undefined) await sign(claim);
  const { reportDue } = await claim.written(file);
  if (reportDue) await claim.reported(1);
  return claim;
}

/** JSON has no members without a value. */
const WITHOUT_VALUE = { ended: undefined, record: undefined, reported: undefined, reason: undefined };

export async function historyOf(journal: Pick<Journal, 'history'>): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for await (const entry of journal.history()) entries.push({ ...WITHOUT_VALUE, ...entry });
  return entries;
}

/** Kinds and ids, which most tests are about. */
export async function unfinishedOf(journal: Journal): Promise<readonly (readonly [string, string])[]> {
  return (await journal.unfinished()).map(({ kind, id }) => [kind, id] as const);
}
