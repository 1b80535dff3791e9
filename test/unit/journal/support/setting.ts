/** A journal in a temporary folder, with clocks that stand still and processes that live and die as a test says. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../../../src/journal/driver.ts';
import type { Asking, Claim, HistoryEntry, Journal, KnownCall } from '../../../../src/journal/journal.ts';
import { type JournalOptions, openJournal } from '../../../../src/journal/open-journal.ts';
import type { Holder, Processes } from '../../../../src/journal/processes.ts';
import { SIGNATURE } from './works.ts';

export { askingOf, factsAt, factsOf, Mismatch, SIGNATURE, workOf } from './works.ts';

type Overrides = Partial<JournalOptions & { readonly self: Partial<Holder> }>;

export interface Setting extends AsyncDisposable {
  readonly folder: string;
  readonly database: string;
  /** Both clocks, in milliseconds since the start; tests set them. */
  readonly clock: { wall: number; up: number };
  /** Opens the journal as another process, which runs until its pid is in `ended`: 101, 102, … */
  open(overrides?: Overrides): Promise<Journal>;
  /** What it is opened with. */
  options(overrides?: Overrides): JournalOptions;
  /** Pids of processes that have ended, and of those whose state cannot be known. */
  readonly ended: Set<number>;
  readonly invisible: Set<number>;
  /** Rows of the database. */
  rows(sql: string): readonly Readonly<Record<string, unknown>>[];
  /** Changes the database from outside. */
  change(sql: string): void;
}

const BEGINNING = Date.UTC(2026, 10, 20, 12);

export async function journalSetting(): Promise<Setting> {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-journal-'));
  const database = join(folder, 'journal.db');
  const clock = { wall: 0, up: 1_000_000 };
  const ended = new Set<number>();
  const invisible = new Set<number>();
  let ids = 0;
  let pids = 100;

  function options({ self, ...overrides }: Overrides = {}): JournalOptions {
    pids += 1;
    const processes: Processes = {
      self: { host: 'here', boot: 'first', space: undefined, pid: pids, started: `${pids}`, ...self },
      isRunning: ({ pid }) => (invisible.has(pid) ? undefined : !ended.has(pid)),
    };
    return {
      folder,
      now: () => new Date(BEGINNING + clock.wall),
      uptime: () => clock.up,
      randomId: () => `id${String(++ids).padStart(8, '0')}`,
      processes,
      keepDays: 90,
      runningFor: 0,
      patience: 60_000,
      ...overrides,
    };
  }

  function outside<T>(work: (db: Database) => T): T {
    const db = openDatabase(database);
    try {
      db.exec('pragma busy_timeout = 5000');
      return work(db);
    } finally {
      db.close();
    }
  }

  return {
    folder,
    database,
    clock,
    ended,
    invisible,
    options,
    open: async (overrides) => await openJournal(options(overrides)),
    rows: (sql) => outside((db) => db.all(sql)),
    change: (sql) => outside((db) => db.exec(sql)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The right to request it; throws if the signature is known. */
export async function claimOf(journal: Journal, asking: Asking): Promise<Claim> {
  const claim = (await journal.known(asking)) === undefined ? await journal.claim(asking) : undefined;
  if (claim === undefined) throw new Error('there is nothing to claim');
  return claim;
}

/** Asks for the signature, as if the service had given it. */
export async function sign(claim: Claim, record: string | undefined = `record-of-${claim.id}`): Promise<void> {
  await claim.requested();
  claim.mayBeSent();
  await claim.signed({ signature: SIGNATURE, record });
}

/** As the main flow does: the signature that is known, or a new one. */
export async function obtain(journal: Journal, asking: Asking): Promise<Claim | KnownCall> {
  for (;;) {
    const known = await journal.known(asking);
    if (known !== undefined) return known;
    const claim = await journal.claim(asking);
    if (claim === undefined) continue;
    await sign(claim);
    return claim;
  }
}

/** The whole way of one file. */
export async function signAndReport(journal: Journal, asking: Asking): Promise<Claim | KnownCall> {
  const call = await obtain(journal, asking);
  const { reportDue } = await call.written(asking.metadata.signingOptions?.output ?? asking.metadata.file, 'abcd');
  if (reportDue !== undefined) await call.reported(reportDue);
  return call;
}

/** A run that came to a good end. */
export async function end(journal: Journal): Promise<void> {
  await journal.close();
  journal.ended();
}

/** Members without a value are left out where they come from. */
const WITHOUT_VALUE = { ended: undefined, record: undefined, reported: undefined, reason: undefined };

export async function historyOf(journal: Pick<Journal, 'history'>): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for await (const entry of journal.history()) entries.push({ ...WITHOUT_VALUE, ...entry });
  return entries;
}

/** Kinds and ids, which most tests are about. */
export async function unfinishedOf(
  journal: Pick<Journal, 'unfinished'>,
): Promise<readonly (readonly [string, string])[]> {
  return (await journal.unfinished()).map(({ kind, id }) => [kind, id] as const);
}
