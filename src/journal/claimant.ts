/** Decides how a file gets the signature of its work, in one transaction over the rows. The README has the table. */

import { fingerprintOf } from '../crypto/fingerprint.ts';
import type { Database, Row, Value } from './driver.ts';
import type { Asking, CallMetadata, Work } from './journal.ts';
import { isGone, nextNumber, type Run, unendedSince } from './runs.ts';
import { OPEN_STATES } from './schema.ts';

export type Need = Pick<Asking, 'work' | 'metadata'>;

/** Whether signatures verify with the certificate of this run, by the names of their calls: found out before the transaction. */
export type Verified = ReadonlyMap<string, boolean>;

export type Decision =
  | { readonly kind: 'none' }
  | { readonly kind: 'take' | 'give-up' | 'set-aside' | 'share' | 'wait' | 'unverified'; readonly call: Row }
  /** `isOfAll`: number and certificate never matched, so no request of this run would bring anything. */
  | { readonly kind: 'mismatch'; readonly name: string; readonly isOfAll: boolean }
  | { readonly kind: 'just-unanswered' };

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
export function decide(db: Database, me: Run, need: Need, verified: Verified): Decision {
  const mark = markOf(db, need);
  if (mark?.matches === 0) return { kind: 'mismatch', name: String(mark.call), isOfAll: true };
  const current = currentCall(db, need.work);
  const isOpen = ['claimed', 'requested', 'signed'].includes(String(current?.state));
  const call = (isOpen ? undefined : usableCall(db, me, need.work, verified)) ?? current;
  if (call === undefined) return { kind: 'none' };
  const { state, run = null, settled = 0 } = call;
  if (state === 'unknown') return Number(settled) > me.began ? { kind: 'just-unanswered' } : { kind: 'none' };
  if (state === 'claimed') return { kind: isGone(db, me, run) ? 'take' : 'wait', call };
  if (state === 'requested') return { kind: isGone(db, me, run) ? 'give-up' : 'wait', call };
  if (state === 'closed' && !isShared(db, me, call)) return { kind: 'none' };
  const verifies = verified.get(String(call.name));
  if (verifies === undefined) return { kind: 'unverified', call };
  if (verifies) return { kind: 'share', call };
  if (state === 'closed') return { kind: 'none' };
  // In its files: the certificate may have been renewed since.
  if (isWritten(db, me, call)) return { kind: 'set-aside', call };
  return { kind: 'mismatch', name: String(call.name), isOfAll: mark === undefined };
}

/**
 * A signature that was paid and is in no file, or was closed after this run began, unless it is known not to verify: it goes
 * before whatever came after it.
 */
function usableCall(db: Database, me: Run, work: Work, verified: Verified): Row | undefined {
  const sql = `select * from calls where work = ? and (state in ('surplus', 'unusable') or state = 'closed' and settled > ?)
    order by id desc`;
  return db.all(sql, workId(work), me.began).find(({ name }) => verified.get(String(name)) !== false);
}

/** Of a closed call. */
export function isShared(db: Database, me: Run, { id = null, settled = 0 }: Row): boolean {
  if (Number(settled) > me.began) return true;
  const sql = 'select 1 from files f join runs r on r.id = f.run where f.call = ? and r.well = 0 and r.began_at > ?';
  return db.get(sql, id, unendedSince(me.now())) !== undefined;
}

/** At least one file is, and none of a live run waits. */
function isWritten(db: Database, me: Run, { id = null }: Row): boolean {
  if (db.get('select 1 from files where call = ? and written = 1', id) === undefined) return false;
  return waitingRuns(db, id).every((run) => isGone(db, me, run));
}

/** Runs with files that wait for the signature of a call. */
export function waitingRuns(db: Database, call: Value): readonly Value[] {
  const sql = 'select distinct run from files where call = ? and written = 0 and given_up = 0';
  return db.all(sql, call).map(({ run = null }) => run);
}

export interface Claimed {
  readonly kind: 'claimed';
  readonly id: number;
  readonly name: string;
  /** Calls of the work whose outcome is unknown. */
  readonly unknown: readonly string[];
  /** Whether number and certificate are proven to belong together. */
  readonly isProven: boolean;
}

/** Inserts a claim; otherwise returns what is to be done first. */
export function claimWork(db: Database, me: Run, need: Need, verified: Verified, name: string): Claimed | Decision {
  let decision = decide(db, me, need, verified);
  if (decision.kind === 'take') {
    // Nothing was sent for it, so what counts is the call before it.
    settle(db, me, decision.call, 'claimed', 'released');
    db.run('update files set given_up = 1 where call = ?', decision.call.id ?? null);
    decision = decide(db, me, need, verified);
  }
  if (decision.kind === 'give-up') {
    const call = usableCall(db, me, need.work, verified);
    if (call !== undefined && !verified.has(String(call.name))) return { kind: 'unverified', call };
    settle(db, me, decision.call, 'requested', 'unknown');
    if (call !== undefined) return { kind: 'share', call };
  } else if (decision.kind === 'set-aside') settle(db, me, decision.call, 'signed', 'aside');
  else if (decision.kind !== 'none') return decision;
  const id = insertClaim(db, me, need, name);
  const unknown = db.all("select name from calls where work = ? and state = 'unknown'", workId(need.work));
  const names = unknown.map((call) => String(call.name));
  const isProven = markOf(db, need)?.matches === 1;
  return { kind: 'claimed', id, name, unknown: names, isProven };
}

/** What is known of certificate number and certificate. */
export function markOf(db: Database, { work, metadata }: Need): Row | undefined {
  const sql = 'select matches, call from proven where origin = ? and code = ? and leaf = ?';
  return db.get(sql, work.origin, work.code, metadata.certificate.sha256);
}

function insertClaim(db: Database, me: Run, need: Need, name: string): number {
  const { file, bytes, certificate, client } = need.metadata;
  const { origin, code, algorithm, digest } = need.work;
  db.run(
    `insert into calls (name, work, origin, code, algorithm, digest, run, state, at, file, bytes, certificate, leaf, client)
     values (?, ?, ?, ?, ?, ?, ?, 'claimed', ?, ?, ?, ?, ?, ?)`,
    ...[name, workId(need.work), origin, code, algorithm, digest, me.id, me.now().getTime()],
    ...[file, bytes, certificate.name, certificate.sha256, client],
  );
  const id = Number(db.get('select last_insert_rowid() as id')?.id);
  addFile(db, me, id, need.metadata);
  return id;
}

/** Ends a state of a call, unless it has changed meanwhile. */
function settle(db: Database, me: Run, { id = null, run = null }: Row, from: string, to: string): void {
  const sql = 'update calls set state = ?, settled = ?, ended_at = ? where id = ? and run = ? and state = ?';
  db.run(sql, to, nextNumber(db), me.now().getTime(), id, run, from);
}

/** Adds this file to a call with a signature that verifies. A live owner keeps the report. */
export function shareCall(db: Database, me: Run, { metadata, work }: Need, call: Row): number {
  const { id = null, name = null, state, run = null } = call;
  const owner = state !== 'closed' && !isGone(db, me, run) ? run : me.id;
  const { name: certificate, sha256 } = metadata.certificate;
  const sql = "update calls set state = 'signed', run = ?, certificate = ?, leaf = ? where id = ?";
  db.run(sql, owner, certificate, sha256, id);
  // There may be a file for the signature now.
  db.run('update calls set due = null where id = ? and due = 2', id);
  addFile(db, me, Number(id), metadata);
  prove(db, work, metadata, String(name));
  return Number(id);
}

/** A match replaces a mismatch. */
export function prove(
  db: Database,
  { origin, code }: Pick<Work, 'origin' | 'code'>,
  metadata: Pick<CallMetadata, 'certificate'>,
  name: string,
): void {
  db.run(
    `insert into proven values (?, ?, ?, 1, ?)
     on conflict do update set matches = 1, call = excluded.call where matches = 0`,
    ...[origin, code, metadata.certificate.sha256, name],
  );
}

/** A file is the same if path, output and the name of a file in it are. */
export function placeOf({ file, signingOptions }: CallMetadata): string {
  const { path, output, inner } = signingOptions ?? {};
  return JSON.stringify(path === undefined ? [file] : [path, output, inner]);
}

/** A file of the same place is taken over. */
function addFile(db: Database, me: Run, call: number, metadata: CallMetadata): void {
  const { file, signingOptions: options } = metadata;
  const recorded = options === undefined ? null : JSON.stringify(options);
  db.run(
    `insert into files (call, run, place, file, output, options, wants_report) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (call, place) do update set run = excluded.run, file = excluded.file, options = excluded.options,
       wants_report = excluded.wants_report, written = 0, given_up = 0, reason = null`,
    ...[call, me.id, placeOf(metadata), file, options?.output ?? null, recorded, options?.report === false ? 0 : 1],
  );
}
