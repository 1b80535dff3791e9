/** Lists the calls for `resume` and `history`. SQLite builds the JSON objects, and omits members that have no value. */

import { setImmediate } from 'node:timers/promises';
import { currentCall, isShared } from './claimant.ts';
import type { Row } from './driver.ts';
import { asJournalError, inJournal } from './errors.ts';
import type { HistoryEntry, Journal, RecordedSigningOptions, UnfinishedCall, Work } from './journal.ts';
import { liveRuns, type Observer, type Run, unendedSince } from './runs.ts';
import { UNFINISHED } from './schema.ts';

const PAGE = 500;

const object = (members: string): string => `json_patch('{}', json_object(${members}))`;
const boolean = (condition: string): string => `json(iif(${condition}, 'true', 'false'))`;
const status = (column: string): string => `iif(${column} in (1, 2), ${column}, null)`;
/** Limits years to four digits, because another program may have written other values to the database. */
const time = (column: string): string =>
  `strftime('%Y-%m-%dT%H:%M:%fZ', max(0, min(${column}, 253402300799999)) / 1000.0, 'unixepoch')`;

const WORK = "'origin', origin, 'code', code, 'algorithm', algorithm, 'digest', digest";
const CERTIFICATE = "'certificate', json_object('name', certificate, 'sha256', leaf)";
const FILE = object(`'file', file, 'written', ${boolean('written = 1')}, 'reason', reason,
  'unusable', ${boolean("c.state = 'unusable' and written = 0")}, 'signingOptions', json(options)`);
const UNFINISHED_CALL =
  object(`'id', name, 'kind', iif(outcome = 'unusable', 'unwritten', outcome), 'at', ${time('at')},
  'work', json_object(${WORK}), 'metadata', json_object('file', file, 'bytes', bytes, ${CERTIFICATE}, 'client', client),
  'files', (select json_group_array(${FILE}) from files where call = c.id and (given_up = 0 or written = 1)),
  'record', record, 'reportDue', ${status('due')}, 'reason', reason`);
/** A signature is counted if the service returned it (API 8). */
const ENTRY = object(`'id', name, 'at', ${time('at')},
  'ended', iif(outcome in ('written', 'given-up', 'refused'), ${time('ended_at')}, null),
  'file', file, 'bytes', bytes, 'filesWritten', filesWritten, ${CERTIFICATE}, ${WORK}, 'outcome', outcome,
  'counted', case when signature is not null then 'yes' when state in ('claimed', 'refused') then 'no' else 'unknown' end,
  'repeated', json(iif(repeated > 0, 'true', null)),
  'sha256', (select json_group_array(distinct sha256) from (
    select sha256 from files where call = c.id and sha256 > '' limit 1000)),
  'record', record, 'reported', ${status('reported')},
  'reason', coalesce(reason, (select reason from files where call = c.id and reason is not null limit 1))`);

/**
 * `outcome` is null if nothing was sent. `waits` is 1 if a file of a live run waits for the signature, and 0 if only
 * files of other runs wait for it. The first parameter of the query is the list of live runs.
 */
const selectCalls = (shape: string, calls: string, also = 'outcome is not null'): string => `
  with live (id) as (select value from json_each(?))
  select id, ${shape} as json from (
    select *, case
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
      from calls where ${calls})) c
  where ${also} order by id`;

const SELECT_UNFINISHED = selectCalls(
  UNFINISHED_CALL,
  `${UNFINISHED} and name = coalesce(?, name)`,
  "outcome not in ('written', 'given-up')",
);
const SELECT_REPEATABLE = selectCalls(
  UNFINISHED_CALL,
  "state = 'closed' and due is null and id in (select f.call from runs r join files f on f.run = r.id where r.well = 0 and r.began_at > ?)",
);
const SELECT_HISTORY = `${selectCalls(ENTRY, "id > ? and state <> 'released'")} limit ${PAGE}`;

export function listingOf(observer: Observer): Pick<Journal, 'unfinished' | 'history'> {
  const { folder, db } = observer;
  return {
    unfinished: async () => inJournal(folder, () => unfinishedCalls(observer)),
    /** A history can be larger than memory. libsql frees rows only between turns of the event loop. */
    async *history() {
      try {
        const live = JSON.stringify(liveRuns(observer));
        for (let page = db.all(SELECT_HISTORY, live, 0); page.length > 0; await setImmediate()) {
          for (const row of page) yield parsed<HistoryEntry>(row);
          page = db.all(SELECT_HISTORY, live, page.at(-1)?.id ?? null);
        }
      } catch (thrown) {
        throw asJournalError(thrown, folder);
      }
    },
  };
}

export function unfinishedCalls(observer: Observer, name: string | null = null): readonly UnfinishedCall[] {
  return observer.db.all(SELECT_UNFINISHED, JSON.stringify(liveRuns(observer)), name).map(parsed<UnfinishedCall>);
}

export function repeatableCalls(me: Run): readonly Pick<UnfinishedCall, 'work' | 'files'>[] {
  const others = me.db.all(SELECT_REPEATABLE, '[]', unendedSince(me));
  return [...unfinishedCalls(me), ...others.map(parsed<UnfinishedCall>)];
}

export function optionsOfKnown(me: Run, work: Work): readonly RecordedSigningOptions[] {
  const { id = null, ...call } = currentCall(me.db, work) ?? { signature: null };
  if (call.signature === null || (call.state === 'closed' && !isShared(me, { id, ...call }))) return [];
  const rows = me.db.all('select options as json from files where call = ? and options is not null', id);
  return rows.map(parsed<RecordedSigningOptions>);
}

function parsed<T>({ json }: Row): T {
  return JSON.parse(String(json)) as T;
}
