/** What must hold in every state, whatever happens. Throws `BrokenPromise`. */

import type { Database, Row } from '../../../../src/journal/driver.ts';
import { unfinishedCalls } from '../../../../src/journal/listing.ts';
import type { Observer } from '../../../../src/journal/runs.ts';
import { BrokenPromise } from './explore.ts';
import { type Actor, isOver, type Request, type Thread, type World } from './world.ts';

/** Money: no request for a work that may have been paid, unless the user is warned of it. */
export function checkSending(db: Database, world: World, actor: Actor, thread: Thread): void {
  for (const request of world.requests) {
    if (request.work !== thread.work || !mayBeCounted(request)) continue;
    if (isUnderWay(world, request)) throw new BrokenPromise(`${request.name} is requested twice at the same time`);
    if (thread.warned.includes(request.name) || world.forgotten.includes(request.call)) continue;
    if (isSettledFor(db, actor, rowOf(db, request.call), thread.work)) continue;
    throw new BrokenPromise(`${thread.name} is requested without a warning of ${request.name}`);
  }
}

function mayBeCounted({ answer }: Request): boolean {
  return answer !== 'refused' && answer !== 'throttled';
}

/** By a process that lives, and that nobody takes for gone. */
function isUnderWay(world: World, request: Request): boolean {
  const actor = world.actors[request.actor];
  if (request.answer !== undefined || actor === undefined || actor.isPresumedGone) return false;
  const isAlive = actor.state === 'alive' || actor.state === 'stopping';
  return isAlive && actor.threads.some(({ step, name }) => step === 'receive' && name === request.name);
}

/** The work was finished before this run began: a new command is a new signature. */
function isSettledFor(db: Database, actor: Actor, row: Row | undefined, work: number): boolean {
  const later = db.get(
    "select * from calls where digest = ? and state = 'closed' and id >= ? order by id limit 1",
    ...[String(work), row?.id ?? 0],
  );
  if (later === undefined) return false;
  if (keyOf(later) !== actor.certificate) return true;
  const waits = db.get('select 1 from files where call = ? and written = 0 and given_up = 0', later.id ?? 0);
  return Number(later.settled) <= actor.began && waits === undefined;
}

function rowOf(db: Database, call: number): Row | undefined {
  return db.get('select * from calls where id = ?', call);
}

function keyOf({ signature }: Row): string {
  return Buffer.from(String(signature ?? ''), 'base64').toString();
}

/** A signature that the service gave is on record, at any time. */
export function checkState(db: Database, world: World): void {
  for (const { call, name, isGiven } of world.requests) {
    if (isGiven && (rowOf(db, call)?.signature ?? null) === null)
      throw new BrokenPromise(`the signature of ${name} is lost`);
  }
}

/** Nothing can happen any more: all is done, or listed for the user. */
export function checkEnd(world: World, observer: Observer): void {
  const { db } = observer;
  world.actors.forEach(({ state, threads }, index) => {
    if (state !== 'alive' && state !== 'stopping') return;
    const waiting = threads.filter((thread) => !isOver(thread)).map(({ step }) => step);
    throw new BrokenPromise(`process ${index} waits for ever: ${waiting}`);
  });
  const listed = new Map(unfinishedCalls(observer).map((call) => [call.id, call]));
  for (const { call, name, isGiven, ...request } of world.requests) {
    if (world.forgotten.includes(call)) continue;
    const row = rowOf(db, call);
    const isWritten = Object.values(world.files).includes(call) || hasWrittenRow(db, call);
    const kind = listed.get(name)?.kind;
    if (kind === 'under-way') throw new BrokenPromise(`${name} is under way for ever`);
    if (isGiven && !isWritten && kind === undefined)
      throw new BrokenPromise(`the signature of ${name} is out of reach`);
    const hasSignature = (row?.signature ?? null) !== null;
    if (mayBeCounted({ ...request, call, name, isGiven }) && !hasSignature && kind !== 'unknown') {
      throw new BrokenPromise(`${name} may be counted, and is not listed`);
    }
    const last = world.reports.filter((report) => report.call === call).at(-1)?.status;
    const isKnown = kind === 'unwritten' || kind === 'unreported';
    if (isWritten && last !== 1 && !isKnown)
      throw new BrokenPromise(`${name} is written and not reported, and not listed`);
    if (!isWritten && last === 1) throw new BrokenPromise(`${name} is reported as written, and is not`);
    if (isWritten && last === 2 && listed.get(name)?.reportDue !== 1 && kind !== 'unwritten') {
      throw new BrokenPromise(`${name} is written, and reported as given up`);
    }
  }
}

function hasWrittenRow(db: Database, call: number): boolean {
  return db.get('select 1 from files where call = ? and written = 1', call) !== undefined;
}
