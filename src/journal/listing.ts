/** Calls as `resume` and `history` show them. */

import { setImmediate } from 'node:timers/promises';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { currentCall, isShared } from './claimant.ts';
import type { Row, Value } from './driver.ts';
import { asJournalError, inJournal } from './errors.ts';
import {
  CALL_OUTCOMES,
  type HistoryEntry,
  type Journal,
  type RecordedSigningOptions,
  type SharingFile,
  UNFINISHED_KINDS,
  type UnfinishedCall,
  type Work,
} from './journal.ts';
import { liveRuns, type Observer, type Run, unendedSince } from './runs.ts';
import { UNFINISHED_STATES } from './schema.ts';
import { statusOf } from './steps.ts';

/** Of a Date, in milliseconds. */
const LATEST_TIME = 8.64e15;
/** Rows that are read at once. */
const PAGE = 500;

/**
 * Calls with their outcome: null if nothing was sent, and nothing will be. `waits`: 1 if a file of a live run waits, 0 if only
 * files of other runs do. The first value is a list of the live runs.
 */
const selectCalls = (which: string, columns: string): string => `
  with live (id) as (select value from json_each(?))
  select *, ${columns}, case
      when state in ('claimed', 'requested') and run in live then 'under-way'
      when state = 'requested' then 'unknown'
      when state in ('claimed', 'released') then null
      when state in ('unknown', 'surplus', 'refused', 'unusable') then state
      when waits = 1 or waits is null and due in (1, 2) and reporter in live then 'under-way'
      when waits = 0 then 'unwritten'
      when due in (1, 2) then 'unreported'
      else iif(filesWritten > 0, 'written', 'given-up')
    end as outcome
  from (
    select *, (select count(*) from files where call = calls.id and written = 1) as filesWritten,
      (select max(run in live) from files where call = calls.id and written = 0 and given_up = 0) as waits
    from calls where ${which}) c`;

const FILES = `(
  select json_group_array(json_object('file', file, 'written', written, 'reason', reason, 'options', options))
  from files where call = c.id and (given_up = 0 or written = 1)) as files`;
const UNFINISHED = selectCalls(`state in ${UNFINISHED_STATES} and name = coalesce(?, name) order by id`, FILES);
const REPEATABLE = selectCalls(
  `state = 'closed' and id in (
     select f.call from runs r join files f on f.run = r.id where r.well = 0 and r.began_at > ?)`,
  FILES,
);
const HISTORY = selectCalls(
  "id > ? and state <> 'released' order by id limit ?",
  `(select reason from files where call = c.id and reason is not null limit 1) as why,
  (select group_concat(distinct sha256) from (select sha256 from files where call = c.id limit 1000)) as sha256`,
);

export function listingOf(observer: Observer): Pick<Journal, 'unfinished' | 'history'> {
  const { folder } = observer;
  return {
    unfinished: async () => inJournal(folder, () => unfinishedCalls(observer)),
    async *history() {
      try {
        yield* historyOf(observer);
      } catch (thrown) {
        throw asJournalError(thrown, folder);
      }
    },
  };
}

/** `name`: of one call, or of any. */
export function unfinishedCalls(observer: Observer, name: string | null = null): readonly UnfinishedCall[] {
  return observer.db.all(UNFINISHED, JSON.stringify(liveRuns(observer)), name).flatMap((row) => {
    const outcome = row.outcome === 'unusable' ? 'unwritten' : row.outcome;
    const kind = UNFINISHED_KINDS.find((one) => one === outcome);
    if (kind === undefined) return [];
    const { bytes, client, record, reason } = row;
    const { id, at, file, certificate, work } = whatOf(row);
    const files = filesOf(row);
    const signingOptions = files[0]?.signingOptions;
    const metadata = { file, bytes: Number(bytes), certificate, client: String(client), signingOptions };
    const reportDue = statusOf(row.due);
    return [{ id, kind, at, work, metadata, files, record: textOf(record), reportDue, reason: textOf(reason) }];
  });
}

function filesOf({ files, state }: Row): readonly SharingFile[] {
  return (JSON.parse(String(files)) as readonly Row[]).map(({ file, written, reason, options }) => ({
    file: String(file),
    written: written === 1,
    unusable: state === 'unusable' && written === 0,
    reason: textOf(reason),
    signingOptions: optionsOf(options),
  }));
}

/** As `Journal.knownFor`. */
export function optionsOfKnown(me: Run, work: Work): readonly RecordedSigningOptions[] {
  const call = currentCall(me.db, work);
  const { state, signature = null } = call ?? {};
  if (call === undefined || signature === null || (state === 'closed' && !isShared(me, call))) return [];
  const rows = me.db.all('select options from files where call = ?', call.id ?? null);
  return rows.flatMap(({ options }) => optionsOf(options) ?? []);
}

/** As `Journal.repeatable`. */
export function repeatableCalls(me: Run): readonly Pick<UnfinishedCall, 'work' | 'files'>[] {
  const rows = me.db.all(REPEATABLE, '[]', unendedSince(me));
  return [...unfinishedCalls(me), ...rows.map((row) => ({ work: whatOf(row).work, files: filesOf(row) }))];
}

/** Read by the page: a history is larger than memory should be. libsql frees rows only between turns of the event loop. */
async function* historyOf(observer: Observer): AsyncGenerator<HistoryEntry> {
  const live = JSON.stringify(liveRuns(observer));
  for (let last: Value | undefined = 0; last !== undefined; await setImmediate()) {
    const page: readonly Row[] = observer.db.all(HISTORY, live, last, PAGE);
    for (const row of page) {
      const outcome = CALL_OUTCOMES.find((one) => one === row.outcome);
      if (outcome !== undefined) yield entryOf(row, outcome);
    }
    last = page[PAGE - 1]?.id;
  }
}

function entryOf(row: Row, outcome: HistoryEntry['outcome']): HistoryEntry {
  const { ended_at, bytes, filesWritten, sha256, record, signature, state, repeated, reported, reason, why } = row;
  const { id, at, file, certificate, work } = whatOf(row);
  const isOver = outcome === 'written' || outcome === 'given-up' || outcome === 'refused';
  const mayBeCounted = state === 'claimed' || state === 'refused' ? 'no' : 'unknown';
  return {
    id,
    at,
    ended: isOver ? isoTime(ended_at) : undefined,
    file,
    bytes: Number(bytes),
    filesWritten: Number(filesWritten),
    sha256: textOf(sha256)?.split(',') ?? [],
    certificate,
    ...work,
    record: textOf(record),
    outcome,
    // API 8: what is counted is a signature that was given.
    counted: typeof signature === 'string' ? 'yes' : mayBeCounted,
    repeated: repeated === 1 || undefined,
    reported: statusOf(reported),
    reason: textOf(reason) ?? textOf(why),
  };
}

function whatOf({ name, at, file, certificate, leaf, origin, code, algorithm, digest }: Row) {
  return {
    id: String(name),
    at: isoTime(at),
    file: String(file),
    certificate: { name: String(certificate), sha256: String(leaf) },
    work: {
      origin: String(origin),
      code: String(code),
      algorithm: algorithm as DigestAlgorithm,
      digest: String(digest),
    },
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
