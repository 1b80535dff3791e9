/** What journal and server say after runs that were killed: what was requested, reported, unknown and left. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../../src/journal/driver.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { openJournal } from '../../../src/journal/open-journal.ts';
import { observeProcesses } from '../../../src/journal/processes.ts';
import type { TestServer } from '../services/server.ts';

export interface Calls {
  readonly requests: number;
  /** Records that were reported to the service with status 1. */
  readonly reports: number;
  readonly unknown: number;
  readonly faults: readonly string[];
}

/** The lines of the server's log come a little later than its answers. */
const PATIENCE_MILLISECONDS = 2000;

/**
 * Everything must be settled but calls whose outcome is unknown: a request for each file at most and one for each of
 * these, and each record reported as written that the program heard of.
 * @param logged how much the server had logged before
 * @param expected signatures that the files take
 */
export async function checkCalls(server: TestServer, logged: number, state: string, expected: number): Promise<Calls> {
  const journal = await openStateFolder(state);
  const open = await journal.unfinished();
  await journal.close();
  const unknown = open.filter(({ kind }) => kind === 'unknown').length;
  const faults = open
    .filter(({ kind }) => kind !== 'unknown')
    .map(({ kind, metadata: facts, reason }) => `the call for ${facts.file} is ${kind}${reason ? `: ${reason}` : ''}`);
  faults.push(...(await leftBeside(state)).map((name) => `${name} is left in the journal`));
  for (let waited = 0; ; waited += 50) {
    const told = checkLog(server.log().slice(logged), expected, unknown);
    if (told.faults.length === 0 || waited >= PATIENCE_MILLISECONDS) {
      return { ...told, unknown, faults: [...faults, ...told.faults] };
    }
    await sleep(50);
  }
}

function checkLog(log: string, expected: number, unknown: number): Omit<Calls, 'unknown'> {
  const lines = log
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
  // Of an answer that could not be sent there is a second line.
  const signed = new Set(lines.filter(({ operation }) => operation === 'sign').map(({ record }) => record));
  const reports = lines.filter(({ operation }) => operation === 'report-sign');
  const written = new Set(reports.filter(({ status }) => status === 1).map(({ record }) => record));
  const faults: string[] = [];
  if (signed.has(undefined)) faults.push('a request was refused');
  if (signed.size > expected + unknown) faults.push(`${signed.size} requests, not ${expected}, ${unknown} unknown`);
  const silent = [...signed].filter((record) => !written.has(record)).length;
  // A call killed in flight was given a signature that no one received.
  if (silent > unknown) faults.push(`${silent} signatures were not reported, and ${unknown} calls are unknown`);
  const others = reports.filter(({ status, record }) => status !== 1 || !signed.has(record)).length;
  if (others > 0) faults.push(`${others} reports are not of a written file that was asked for`);
  return { requests: signed.size, reports: written.size, faults };
}

/** The journal of processes that have ended. */
export async function openStateFolder(folder: string): Promise<Journal> {
  return await openJournal({
    folder,
    now: () => new Date(),
    uptime: () => performance.now(),
    randomId: () => Math.random().toString(36).slice(2).padEnd(10, '0'),
    // None of them runs here; a Windows process may have the number of one that does.
    processes: { ...observeProcesses(), isRunning: () => false },
    keepDays: 90,
    runningFor: 0,
    patience: 0,
  });
}

/** Temporary files and locks next to the files. */
export async function leftBeside(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('.'));
}

/** Whether the first run of the journal has noted its good end. */
export function hasNotedEnd(state: string): boolean {
  const database = openDatabase(join(state, 'journal.db'));
  const run = database.get('select well from runs order by id limit 1');
  database.close();
  return run?.well === 1;
}
