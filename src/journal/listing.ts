/** Calls as `resume` and `history` show them. */

import { setImmediate } from 'node:timers/promises';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { currentCall, isShared, waitingRuns } from './claimant.ts';
import type { Database, Row, Value } from './driver.ts';
import type {
  CallOutcome,
  HistoryEntry,
  RecordedSigningOptions,
  SharingFile,
  UnfinishedCall,
  UnfinishedKind,
  Work,
} from './journal.ts';
import { isProbablyGone, type Run, type RunOptions, unendedSince } from './runs.ts';
import { UNFINISHED_STATES } from './schema.ts';
import { statusOf } from './steps.ts';

/** Of a Date, in milliseconds. */
const LATEST_TIME = 8.64e15;
/** Rows that are read at once. */
const PAGE = 500;

const UNFINISHED = `select * from calls where state in ${UNFINISHED_STATES} order by id`;

export function unfinishedCalls(db: Database, options: RunOptions): readonly UnfinishedCall[] {
  return db.all(UNFINISHED).flatMap((row) => {
    const files = filesOf(db, row);
    const kind = kindOf(db, row, options);
    if (kind === undefined) return [];
    const { name, at, record, reason } = row;
    const [first] = files;
    const metadata = {
      file: String(row.file),
      bytes: Number(row.bytes),
      certificate: { name: String(row.certificate), sha256: String(row.leaf) },
      client: String(row.client),
      signingOptions: first?.signingOptions,
    };
    return [
      {
        id: String(name),
        kind,
        at: isoTime(at),
        work: workOf(row),
        metadata,
        files,
        record: textOf(record),
        reportDue: statusOf(row.due),
        reason: textOf(reason),
      },
    ];
  });
}

/** Undefined if nothing is left to do. */
export function kindOf(
  db: Database,
  { id = null, state, run = null, due, reporter = null }: Row,
  options: RunOptions,
): UnfinishedKind | undefined {
  const isAtWork = (of: Value): boolean => !isProbablyGone(db, of, options);
  switch (state) {
    case 'claimed':
      return isAtWork(run) ? 'under-way' : undefined;
    case 'requested':
      return isAtWork(run) ? 'under-way' : 'unknown';
    case 'unknown':
    case 'surplus':
      return state;
    case 'unusable':
      return 'unwritten';
    default: {
      const waiting = waitingRuns(db, id);
      if (waiting.some(isAtWork)) return 'under-way';
      if (waiting.length > 0) return 'unwritten';
      if (statusOf(due) === undefined) return undefined;
      return isAtWork(reporter) ? 'under-way' : 'unreported';
    }
  }
}

function filesOf(db: Database, { id = null, state }: Row): readonly SharingFile[] {
  const rows = db.all('select * from files where call = ? and (given_up = 0 or written = 1)', id);
  return rows.map(({ file, written, reason, options }) => ({
    file: String(file),
    written: written === 1,
    unusable: state === 'unusable' && written === 0,
    reason: textOf(reason),
    signingOptions: optionsOf(options),
  }));
}

/** As `Journal.knownFor`. */
export function optionsOfKnown(db: Database, me: Run, work: Work): readonly RecordedSigningOptions[] {
  const call = currentCall(db, work);
  const { state, signature = null } = call ?? {};
  if (call === undefined || signature === null || (state === 'closed' && !isShared(db, me, call))) return [];
  const rows = db.all('select options from files where call = ?', call.id ?? null);
  return rows.flatMap(({ options }) => optionsOf(options) ?? []);
}

/** As `Journal.repeatable`. */
export function repeatableCalls(db: Database, me: Run): readonly Pick<UnfinishedCall, 'work' | 'files'>[] {
  const rows = db.all(
    `select * from calls where state = 'closed' and id in (
       select f.call from runs r join files f on f.run = r.id where r.well = 0 and r.began_at > ?)`,
    unendedSince(me.now()),
  );
  return [...unfinishedCalls(db, me), ...rows.map((row) => ({ work: workOf(row), files: filesOf(db, row) }))];
}

/** Read by the page: a history is larger than memory should be. libsql frees rows only between turns of the event loop. */
export async function* historyOf(db: Database, options: RunOptions): AsyncGenerator<HistoryEntry> {
  let last: Value = 0;
  for (;;) {
    const page: readonly Row[] = db.all(
      `select c.*, (select count(*) from files where call = c.id and written = 1) as written,
         (select reason from files where call = c.id and reason is not null limit 1) as why,
         (select group_concat(distinct sha256) from (select sha256 from files where call = c.id limit 1000)) as sha256
       from calls c where id > ? and state <> 'released' order by id limit ?`,
      ...[last, PAGE],
    );
    for (const row of page) {
      const outcome = outcomeOf(db, row, options);
      if (outcome !== undefined) yield entryOf(row, outcome);
    }
    const end = page.at(-1)?.id;
    if (page.length < PAGE || end === undefined) return;
    last = end;
    await setImmediate();
  }
}

function outcomeOf(db: Database, row: Row, options: RunOptions): CallOutcome | undefined {
  switch (row.state) {
    case 'refused':
    case 'unusable':
      return row.state;
    case 'forgotten':
      return Number(row.written) > 0 ? 'written' : 'given-up';
    default:
      return (
        kindOf(db, row, options) ??
        (row.state === 'claimed' ? undefined : Number(row.written) > 0 ? 'written' : 'given-up')
      );
  }
}

function entryOf(row: Row, outcome: CallOutcome): HistoryEntry {
  const { name, at, ended_at, file, bytes, certificate, leaf, record, signature, reason, why, state, sha256 } = row;
  const isOver = outcome === 'written' || outcome === 'given-up' || outcome === 'refused';
  return {
    id: String(name),
    at: isoTime(at),
    ended: isOver ? isoTime(ended_at) : undefined,
    file: String(file),
    bytes: Number(bytes),
    filesWritten: Number(row.written),
    sha256: textOf(sha256)?.split(',') ?? [],
    certificate: { name: String(certificate), sha256: String(leaf) },
    ...workOf(row),
    record: textOf(record),
    outcome,
    counted: countedIn(state, signature),
    reported: statusOf(row.reported),
    reason: textOf(reason) ?? textOf(why),
  };
}

/** API 8: what is counted is a signature that was given. */
function countedIn(state: Value | undefined, signature: Value | undefined): HistoryEntry['counted'] {
  if (typeof signature === 'string') return 'yes';
  return state === 'claimed' || state === 'refused' ? 'no' : 'unknown';
}

function workOf({ origin, code, algorithm, digest }: Row): Work {
  return {
    origin: String(origin),
    code: String(code),
    algorithm: algorithm as DigestAlgorithm,
    digest: String(digest),
  };
}

function optionsOf(options: Value | undefined): RecordedSigningOptions | undefined {
  return typeof options === 'string' ? (JSON.parse(options) as RecordedSigningOptions) : undefined;
}

function textOf(value: Value | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A database may have been changed by others. */
function isoTime(milliseconds: Value | undefined): string {
  return new Date(Math.max(-LATEST_TIME, Math.min(Number(milliseconds), LATEST_TIME))).toISOString();
}
