/** Decides how a file gets the signature of its work, in one transaction over the rows. The README has the table. */

import { fingerprintOf } from '../crypto/fingerprint.ts';
import type { Database, Row, Value } from './driver.ts';
import type { Asking, CallMetadata, Work } from './journal.ts';
import { inWords, isGone, nextNumber, type Run, unendedSince } from './runs.ts';
import { OPEN_STATES } from './schema.ts';

export type Need = Pick<Asking, 'work' | 'metadata'>;

/** Whether signatures verify with the certificate of this run, by the names of their calls: found out before the transaction. */
export type Verified = ReadonlyMap<string, boolean>;

export type Decision =
  /** A call of the work may be inserted, after `first`. */
  | { readonly kind: 'claim'; readonly first?: Settling }
  | { readonly kind: 'share'; readonly call: Row }
  | { readonly kind: 'unverified'; readonly call: Row }
  | { readonly kind: 'wait'; readonly call: Row; readonly whom: string }
  /** `isOfAll`: number and certificate never matched, so no request of this run would bring anything. */
  | { readonly kind: 'mismatch'; readonly name: string; readonly isOfAll: boolean }
  | { readonly kind: 'just-unanswered' };

interface Settling {
  readonly call: Row;
  readonly to: 'released' | 'unknown' | 'aside';
}

/** 64 hexadecimal digits. JSON keeps the parts apart, whatever characters they hold. */
export function workId({ origin, code, algorithm, digest }: Work): string {
  return fingerprintOf(JSON.stringify([origin, code, algorithm, digest]));
}

/** The open call of a work, otherwise the last one that counts. */
export function currentCall(db: Database, work: Work): Row | undefined {
  return db.get(
    `select * from calls where work = ? and state not in ('released', 'refused', 'forgotten', 'aside')
     order by state in ${OPEN_STATES} desc, id desc limit 1`,
    workId(work),
  );
}

/** Only sets the end of runs that it finds gone. */
export function decide(me: Run, need: Need, verified: Verified): Decision {
  const mark = markOf(me.db, need);
  if (mark?.matches === 0) return { kind: 'mismatch', name: String(mark.call), isOfAll: true };
  const current = currentCall(me.db, need.work);
  const isOpen = ['claimed', 'requested', 'signed'].includes(String(current?.state));
  const call = (isOpen ? undefined : usableCall(me, need.work, verified)) ?? current;
  if (call === undefined) return { kind: 'claim' };
  const { state, run = null, settled } = call;
  if (state === 'unknown') return { kind: Number(settled) > me.began ? 'just-unanswered' : 'claim' };
  if (state === 'claimed' || state === 'requested') {
    if (!isGone(me, run)) return { kind: 'wait', call, whom: inWords(me, run) };
    return { kind: 'claim', first: { call, to: state === 'claimed' ? 'released' : 'unknown' } };
  }
  if (state === 'closed' && !isShared(me, call)) return { kind: 'claim' };
  const verifies = verified.get(String(call.name));
  if (verifies === undefined) return { kind: 'unverified', call };
  if (verifies) return { kind: 'share', call };
  if (state === 'closed') return { kind: 'claim' };
  // In its files: the certificate may have been renewed since.
  if (isWritten(me, call))
    return state === 'signed' ? { kind: 'claim', first: { call, to: 'aside' } } : { kind: 'claim' };
  return { kind: 'mismatch', name: String(call.name), isOfAll: mark === undefined };
}

/**
 * A signature that was paid and is in no file, or was closed after this run began, unless it is known not to verify: it goes
 * before whatever came after it.
 */
function usableCall({ db, began }: Run, work: Work, verified: Verified): Row | undefined {
  const sql = `select * from calls where work = ? and (state in ('surplus', 'unusable') or state = 'closed' and settled > ?)
    order by id desc`;
  return db.all(sql, workId(work), began).find(({ name }) => verified.get(String(name)) !== false);
}

/** Of a closed call. */
export function isShared(me: Run, { id = null, settled }: Row): boolean {
  if (Number(settled) > me.began) return true;
  const sql = 'select 1 from files f join runs r on r.id = f.run where f.call = ? and r.well = 0 and r.began_at > ?';
  return me.db.get(sql, id, unendedSince(me)) !== undefined;
}

/** At least one file is, and none of a live run waits. */
function isWritten(me: Run, { id = null }: Row): boolean {
  if (me.db.get('select 1 from files where call = ? and written = 1', id) === undefined) return false;
  return waitingRuns(me.db, id).every((run) => isGone(me, run));
}

/** Runs with files that wait for the signature of a call. */
export function waitingRuns(db: Database, call: Value): readonly Value[] {
  const sql = 'select distinct run from files where call = ? and written = 0 and given_up = 0';
  return db.all(sql, call).map(({ run = null }) => run);
}

/** A call, and the file that has a part in it. */
export interface Part extends Need {
  readonly id: number;
  readonly name: string;
}

export interface Claimed extends Part {
  readonly kind: 'claimed';
  /** Calls of the work whose outcome is unknown. */
  readonly unknown: readonly string[];
  /** Whether number and certificate are proven to belong together. */
  readonly isProven: boolean;
}

/** Inserts a claim; otherwise returns what is to be done first. */
export function claimWork(me: Run, need: Need, verified: Verified, name: string): Claimed | Decision {
  const { db } = me;
  let decision = decide(me, need, verified);
  if (decision.kind === 'claim' && decision.first?.to === 'released') {
    // Nothing was sent for it, so what counts is the call before it.
    settle(me, decision.first);
    db.run('update files set given_up = 1 where call = ?', decision.first.call.id ?? null);
    decision = decide(me, need, verified);
  }
  if (decision.kind !== 'claim') return decision;
  const call = decision.first?.to === 'unknown' ? usableCall(me, need.work, verified) : undefined;
  if (call !== undefined && !verified.has(String(call.name))) return { kind: 'unverified', call };
  if (decision.first !== undefined) settle(me, decision.first);
  if (call !== undefined) return { kind: 'share', call };
  const id = insertClaim(me, need, name);
  const unknown = db.all("select name from calls where work = ? and state = 'unknown'", workId(need.work));
  const names = unknown.map((one) => String(one.name));
  return { ...need, kind: 'claimed', id, name, unknown: names, isProven: markOf(db, need)?.matches === 1 };
}

/** What is known of certificate number and certificate. */
export function markOf(db: Database, { work, metadata }: Need): Row | undefined {
  const sql = 'select matches, call from proven where origin = ? and code = ? and leaf = ?';
  return db.get(sql, work.origin, work.code, metadata.certificate.sha256);
}

function insertClaim(me: Run, { work, metadata }: Need, name: string): number {
  const { file, bytes, certificate, client } = metadata;
  const { origin, code, algorithm, digest } = work;
  const row = me.db.get(
    `insert into calls (name, work, origin, code, algorithm, digest, run, state, at, file, bytes, certificate, leaf, client)
     values (?, ?, ?, ?, ?, ?, ?, 'claimed', ?, ?, ?, ?, ?, ?) returning id`,
    ...[name, workId(work), origin, code, algorithm, digest, me.id, me.now().getTime()],
    ...[file, bytes, certificate.name, certificate.sha256, client],
  );
  addFile(me, Number(row?.id), metadata);
  return Number(row?.id);
}

/** Ends a state of a call, unless it has changed meanwhile. */
function settle({ db, now }: Run, { call, to }: Settling): void {
  const { id = null, run = null, state = null } = call;
  const sql = 'update calls set state = ?, settled = ?, ended_at = ? where id = ? and run = ? and state = ?';
  db.run(sql, to, nextNumber(db), now().getTime(), id, run, state);
}

/** Adds this file to a call with a signature that verifies. A live owner keeps the report. */
export function shareCall(me: Run, need: Need, { id, name, state, run = null }: Row): Part {
  const part = { ...need, id: Number(id), name: String(name) };
  const { name: certificate, sha256 } = need.metadata.certificate;
  const owner = state !== 'closed' && !isGone(me, run) ? run : me.id;
  // There may be a file for the signature now, so that a report 2 is not due any more.
  const sql =
    "update calls set state = 'signed', run = ?, certificate = ?, leaf = ?, due = nullif(due, 2) where id = ?";
  me.db.run(sql, owner, certificate, sha256, part.id);
  addFile(me, part.id, need.metadata);
  prove(me.db, part);
  return part;
}

/** A match replaces a mismatch. */
export function prove(db: Database, { work, metadata, name }: Part): void {
  db.run(
    `insert into proven values (?, ?, ?, 1, ?)
     on conflict do update set matches = 1, call = excluded.call where matches = 0`,
    ...[work.origin, work.code, metadata.certificate.sha256, name],
  );
}

/** A file is the same if path, output and the name of a file in it are. */
export function placeOf({ file, signingOptions }: CallMetadata): string {
  const { path, output, inner } = signingOptions ?? {};
  return JSON.stringify(path === undefined ? [file] : [path, output, inner]);
}

/** A file of the same place is taken over. */
function addFile({ db, id }: Run, call: number, metadata: CallMetadata): void {
  const { file, signingOptions: options } = metadata;
  const recorded = options === undefined ? null : JSON.stringify(options);
  db.run(
    `insert into files (call, run, place, file, output, options, wants_report) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (call, place) do update set run = excluded.run, file = excluded.file, options = excluded.options,
       wants_report = excluded.wants_report, written = 0, given_up = 0, reason = null`,
    ...[call, id, placeOf(metadata), file, options?.output ?? null, recorded, options?.report === false ? 0 : 1],
  );
}
