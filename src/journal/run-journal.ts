/** The journal of one run: its entries, committed in groups, and what it knows that is not in the rows. */

import { claimOf, notRecorded, outsideCall, type Session, sharedCall, type Unrecorded } from './calls.ts';
import { type Claimed, claimWork, type Decision, decide, shareCall, workId } from './claimant.ts';
import { groupCommits, type Urgency } from './commits.ts';
import type { Database } from './driver.ts';
import { asJournalError, journalErrors, journalWarnings } from './errors.ts';
import type { Asking, Claim, Journal, KnownCall, Waiting } from './journal.ts';
import { historyOf, kindOf, optionsOfKnown, repeatableCalls, unfinishedCalls } from './listing.ts';
import { giveUpSpace, identityOf, type Place } from './place.ts';
import {
  endRun,
  forgetToken,
  giveSignOfLife,
  inWords,
  type Run,
  type RunOptions,
  removeOld,
  SIGN_OF_LIFE_MILLISECONDS,
  WATCHED_MILLISECONDS,
} from './runs.ts';
import { UNFINISHED_STATES } from './schema.ts';
import { giveUp, handOver, noteReport } from './steps.ts';

const FIRST_PAUSE_MILLISECONDS = 50;
const LONGEST_PAUSE_MILLISECONDS = 500;
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
const UNFINISHED_CALL = `select * from calls where name = ? and state in ${UNFINISHED_STATES}`;
/** Pages that the end of a run gives back to the disk. */
const PAGES_GIVEN_BACK = 'pragma incremental_vacuum(64)';

export interface JournalOptions extends Omit<RunOptions, 'isShared'> {
  /** 8 to 64 characters of a-z and 0-9: never the same twice. */
  readonly randomId: () => string;
  /** Days that calls are kept after their end. */
  readonly keepDays: number;
  /** Milliseconds that this run has been going: what other processes have finished since then is shared. */
  readonly runningFor: number;
  /** Milliseconds that a file waits for another process without seeing progress. */
  readonly patience: number;
  /** Default: SQLite of Node.js, or of the package libsql. */
  readonly openDatabase?: ((path: string) => Database) | undefined;
  /** Whether a folder is on a network or shared file system. Default: as the system says. */
  readonly isOnSharedDisk?: ((folder: string) => boolean) | undefined;
}

interface Opened {
  readonly db: Database;
  readonly run: Run;
  readonly token: string;
  readonly place: Place;
  readonly options: JournalOptions;
}

export function journalOfRun({ db, run, token, place, options }: Opened): Journal {
  const { folder } = place;
  const { uptime, randomId } = options;
  // A run that cannot be seen is watched for so long before it counts as gone.
  const patience = Math.max(options.patience, WATCHED_MILLISECONDS + 20_000);
  const identity = identityOf(folder);
  const warnings: string[] = [];
  const warn = (sentence: string): void => {
    if (!warnings.includes(sentence)) warnings.push(sentence);
  };
  /** By the work. */
  const unrecorded = new Map<string, Unrecorded>();
  const wakers = new Set<() => void>();
  let isReplaced = false;
  /** Two processes would work in different logs. */
  function lookForReplaced(): void {
    if (identityOf(folder) === identity) return;
    isReplaced = true;
    warn(journalWarnings('journal-replaced', { folder }));
  }

  const commits = groupCommits({
    db,
    hasLog: !place.isShared,
    uptime,
    makeRoom: () => giveUpSpace(folder),
    onCommit: (isPaid) => {
      if (isPaid) lookForReplaced();
    },
  });

  /** Adds an entry. Files of this run that wait look again after it. */
  async function enter<T>(urgency: Urgency, apply: () => T): Promise<T> {
    try {
      return await commits.add(urgency, apply);
    } catch (thrown) {
      throw asJournalError(thrown, folder);
    } finally {
      for (const wake of wakers) wake();
    }
  }

  const session: Session = {
    db,
    run,
    unrecorded,
    warn,
    enter,
    assertUsable,
    lookForReplaced,
    hasFailed: commits.hasFailed,
  };

  const beat = setInterval(() => {
    commits.add('soon', () => giveSignOfLife(db, run)).catch(() => undefined);
  }, SIGN_OF_LIFE_MILLISECONDS);
  beat.unref();

  /** Throws once this run must not make requests any more. */
  function assertUsable(): void {
    if (isReplaced) throw unusable('its files were replaced or removed during the run');
    if (commits.hasFailed()) throw unusable('a signature could not be recorded in it');
  }

  function unusable(reason: string) {
    return journalErrors('journal-unusable', { folder, reason });
  }

  /** Decides again once it is known whether the signature of the call verifies. */
  async function decided<D extends Claimed | Decision>(
    asking: Asking,
    work: (verified: ReadonlyMap<string, boolean>) => D,
  ) {
    const verified = new Map<string, boolean>();
    for (;;) {
      const decision = await commits.add('soon', () => work(verified));
      if (decision.kind !== 'unverified') return decision as Exclude<D, { readonly kind: 'unverified' }>;
      const { name, signature } = decision.call;
      verified.set(String(name), asking.verifies(Buffer.from(String(signature), 'base64')));
    }
  }

  async function known(asking: Asking, waiting: Waiting = {}): Promise<KnownCall | undefined> {
    let seen = { row: '', since: uptime() };
    let pause = FIRST_PAUSE_MILLISECONDS;
    let isReported = false;
    for (;;) {
      const kept = commits.hasFailed() ? unrecorded.get(workId(asking.work)) : undefined;
      if (kept !== undefined) return outsideCall(kept);
      const decision = await decided(asking, (verified) => {
        const found = decide(db, run, asking, verified);
        if (found.kind === 'share') shareCall(db, run, asking, found.call);
        return found;
      });
      switch (decision.kind) {
        case 'share':
          return sharedCall(session, decision.call, asking);
        case 'mismatch':
          throw asking.mismatch([decision.name], decision.isOfAll);
        case 'just-unanswered':
          throw journalErrors('just-unanswered');
        case 'wait': {
          const { id, run: owner = null, state, attempts } = decision.call;
          const row = JSON.stringify([id, owner, state, attempts]);
          if (row !== seen.row) seen = { row, since: uptime() };
          const whom = inWords(db, owner, run);
          const isOther = owner !== run.id;
          if (isOther && uptime() - seen.since > patience) {
            throw journalErrors('work-held', { whom, seconds: Math.round(patience / 1000) });
          }
          if (isOther && !isReported) waiting.onWait?.(whom);
          isReported ||= isOther;
          await paused(pause, waiting.signal);
          if (waiting.signal?.aborted) throw journalErrors('claim-interrupted', { whom });
          pause = Math.min(pause * 1.5, LONGEST_PAUSE_MILLISECONDS);
          break;
        }
        default:
          return undefined;
      }
    }
  }

  function paused(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        wakers.delete(end);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      wakers.add(end);
      signal?.addEventListener('abort', end);
      if (signal?.aborted) end();
    });
  }

  async function claim(asking: Asking): Promise<Claim | undefined> {
    assertUsable();
    const name = randomId();
    const decision = await decided(asking, (verified) => claimWork(db, run, asking, verified, name));
    return decision.kind === 'claimed' ? claimOf(session, decision, asking) : undefined;
  }

  async function forget(id: string, reported: Parameters<Journal['forget']>[1]) {
    return await enter('now', () => {
      const row = db.get(UNFINISHED_CALL, id);
      const hadMark = db.run('delete from proven where call = ? and matches = 0', id) > 0;
      const kind = row && kindOf(db, row, options);
      if (row === undefined || kind === undefined) return hadMark ? 'forgotten' : 'not-found';
      if (kind === 'under-way') return 'under-way';
      giveUp(db, run, Number(row.id), reported);
      return 'forgotten';
    });
  }

  async function reading<T>(work: () => T): Promise<T> {
    try {
      return work();
    } catch (thrown) {
      throw asJournalError(thrown, folder);
    }
  }

  return {
    warnings,
    known: (asking, waiting) => guarded(() => known(asking, waiting)),
    claim: (asking) => guarded(() => claim(asking)),
    knownFor: (work) => reading(() => optionsOfKnown(db, run, work)),
    unfinished: () => reading(() => unfinishedCalls(db, options)),
    repeatable: () => reading(() => repeatableCalls(db, run)),
    async *history() {
      try {
        yield* historyOf(db, options);
      } catch (thrown) {
        throw asJournalError(thrown, folder);
      }
    },
    async reported(id, status) {
      return await enter('now', () => {
        const row = db.get(UNFINISHED_CALL, id);
        if (row !== undefined) noteReport(db, run, Number(row.id), status);
        return row !== undefined;
      });
    },
    forget,
    async close() {
      clearInterval(beat);
      const end = (): void => {
        if (commits.hasFailed()) return;
        endRun(db, run);
        handOver(db, run);
        removeOld(db, run, options.now().getTime() - options.keepDays * DAY_MILLISECONDS);
      };
      // The first commit tries again what could not be committed.
      await commits.add('now', () => undefined).catch(() => undefined);
      await enter('now', end).catch((thrown) => warn(notRecorded(thrown)));
      if (commits.hasFailed()) {
        for (const { name: id, file, record = '-', reason } of unrecorded.values()) {
          warn(journalWarnings('signature-not-recorded', { id, file, record, reason }));
        }
      }
      forgetToken(token);
    },
    ended(isWell = true) {
      try {
        // A connection of libsql would leave the log for the next run to read.
        db.exec(`${PAGES_GIVEN_BACK}; pragma wal_checkpoint(truncate); pragma busy_timeout = 1000`);
      } catch {
        // A later run does it.
      }
      try {
        if (isWell) db.run('update runs set well = 1 where id = ? and ended is not null', run.id);
        db.close();
      } catch {
        // A run that still counts as unended costs nothing.
      }
    },
  };

  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      throw asJournalError(thrown, folder);
    }
  }
}
