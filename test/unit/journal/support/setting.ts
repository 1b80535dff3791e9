/** A journal in a temporary folder, with clocks that stand still and processes that live and die as a test says. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../../../src/journal/driver.ts';
import type { Claim, ClaimRequest, HistoryEntry, Journal, KnownCall } from '../../../../src/journal/journal.ts';
import { type JournalOptions, openJournal } from '../../../../src/journal/open-journal.ts';
import type { Holder, Processes } from '../../../../src/journal/processes.ts';
import { SIGNATURE } from './works.ts';

export { askingOf, factsAt, SIGNATURE } from './works.ts';

type Overrides = Partial<JournalOptions & { readonly self: Partial<Holder> }>;

export type Setting = Awaited<ReturnType<typeof journalSetting>>;

/** Pid of the first process. */
export const FIRST = 101;
const BEGINNING = Date.UTC(2026, 10, 20, 12);

export async function journalSetting() {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-journal-'));
  const database = join(folder, 'journal.db');
  const clock = { wall: 0, up: 1_000_000 };
  const ended = new Set<number>();
  const invisible = new Set<number>();
  let ids = 0;
  let pids = FIRST - 1;

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

  /** Opens the journal as another process, which runs until its pid is in `ended`: 101, 102, … */
  const open = (overrides?: Overrides) => openJournal(options(overrides));
  const change = (sql: string) => outside((db) => db.exec(sql));
  const rows = (sql: string) => outside((db) => db.all(sql));
  return {
    folder,
    database,
    /** Both clocks, in milliseconds since the start; tests set them. */
    clock,
    /** Pids of processes that have ended, and of those whose state cannot be known. */
    ended,
    invisible,
    options,
    open,
    /** Ends the process that opened the journal first, and opens the journal as another process. */
    openAfterKill: () => {
      ended.add(FIRST);
      return open();
    },
    rows,
    stateOf: ({ id }: { readonly id: string }) => rows(`select state from calls where name = '${id}'`)[0]?.state,
    change,
    /** Copies the only call until there are so many; files are named by the number of the copy. */
    copyCall: (count: number) =>
      change(`with recursive n (i) as (select 2 union all select i + 1 from n where i < ${count})
        insert into calls (name, work, file, origin, code, algorithm, digest, run, state, settled, at, ended_at, bytes, certificate, leaf, client)
        select 'name' || i, i, i, origin, code, algorithm, digest, run, state, settled, at, ended_at, bytes, certificate, leaf, client
        from calls, n`),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The right to request it; throws if the signature is known. */
export async function claimOf(journal: Journal, asking: ClaimRequest): Promise<Claim> {
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

export async function requestedClaim(journal: Journal, asking: ClaimRequest): Promise<Claim> {
  const claim = await claimOf(journal, asking);
  await claim.requested();
  return claim;
}

export async function signedClaim(journal: Journal, asking: ClaimRequest): Promise<Claim> {
  const claim = await claimOf(journal, asking);
  await sign(claim);
  return claim;
}

export const GIVEN = { signature: SIGNATURE, record: 'r' };

/** The signature that it was given does not verify. */
export async function unusableClaim(journal: Journal, asking: ClaimRequest): Promise<Claim> {
  const claim = await requestedClaim(journal, asking);
  await claim.unusable(GIVEN, 'it does not verify');
  return claim;
}

export async function unansweredClaim(journal: Journal, asking: ClaimRequest): Promise<Claim> {
  const claim = await requestedClaim(journal, asking);
  await claim.unanswered('no answer');
  return claim;
}

/** As the main flow does: the signature that is known, or a new one. */
export async function obtain(journal: Journal, asking: ClaimRequest): Promise<Claim | KnownCall> {
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
export async function signAndReport(journal: Journal, asking: ClaimRequest): Promise<Claim | KnownCall> {
  const call = await obtain(journal, asking);
  const { reportDue } = await call.written('abcd');
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
