/** What holds at the end of every case of the fault matrix: the file signed, nothing left, and each signature accounted for. */

import { cp, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HistoryEntry, UnfinishedCall } from '../../../src/journal/journal.ts';
import { type CliRun, temporaryFolder } from '../../support/programs/cli.ts';
import { openStateFolder } from '../../support/runs/killed-calls.ts';
import { historyOf } from '../../unit/journal/support/setting.ts';
import type { Scene } from './course.ts';

const PATIENCE_MILLISECONDS = 5000;

/** Whole sentences; none in the best case, and that is the only good one. */
export async function lookForWrongs(scene: Scene, runs: readonly CliRun[]): Promise<readonly string[]> {
  const { files, state, relay } = scene;
  const wrongs: string[] = [];
  const found = await scene.fileState();
  if (found !== 'signed') wrongs.push(`the file is ${found} in the end`);
  for (const folder of [files, state]) {
    const left = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('.'));
    if (left.length > 0) wrongs.push(`left in ${folder}: ${left.join(', ')}`);
  }
  for (const { stderr, code } of runs) {
    if (code === 1 || stderr.includes('    at ')) wrongs.push(`a fault of the program itself: ${stderr}`);
  }

  // SQLite does not find its way to the disk of another process. In this one a database that is still open is not copied.
  await using copy = await temporaryFolder('codesign-state-');
  const isElsewhere = state.startsWith('/proc/');
  if (isElsewhere) await cp(state, copy.path, { recursive: true }).catch(() => undefined);
  const journal = await openStateFolder(isElsewhere ? copy.path : state);
  const entries = await historyOf(journal);
  const unfinished = await journal.unfinished();
  for (const warning of journal.warnings) wrongs.push(`the journal warns: ${warning}`);
  for (const call of unfinished) if (!isForTheUser(call)) wrongs.push(`still ${call.kind}: ${call.reason}`);

  const twice = entries.filter(({ id }, index) => entries.findIndex((one) => one.id === id) !== index);
  if (twice.length > 0) wrongs.push(`${twice.length} calls stand in the history twice`);
  // What was repeated may be counted twice.
  const unknown =
    entries.filter(({ counted }) => counted === 'unknown').length + entries.filter(({ repeated }) => repeated).length;
  const look = async () => {
    const told = await reportsOf(scene);
    return { told, unaccounted: relay.records.filter((record) => !isAccountedFor(record, entries, told)) };
  };
  let { told, unaccounted } = await look();
  // The lines of reports come later than those of requests.
  for (let waited = 0; unaccounted.length > unknown && waited < PATIENCE_MILLISECONDS; waited += 50) {
    await sleep(50);
    ({ told, unaccounted } = await look());
  }
  if (unaccounted.length > unknown) {
    wrongs.push(`${unaccounted.length} signatures are unaccounted for, and ${unknown} calls are said to be unknown`);
  }
  // At once, unless the file is signed with it.
  const tellers = runs[0]?.code === 0 ? runs : runs.slice(0, 1);
  const isTold = tellers.some(({ stderr }) => /may have been|a signature was created already/.test(stderr));
  if (unaccounted.length > 0 && !isTold) wrongs.push('a signature may have been counted, but no message says so');
  for (const [record, statuses] of told) {
    if (statuses.size > 1) wrongs.push(`${record} was reported as ${[...statuses].join(' and ')}`);
  }
  return wrongs;
}

/** Unknown, or of a signature that fits no certificate. */
function isForTheUser({ kind, files }: UnfinishedCall): boolean {
  return kind === 'unknown' || (kind === 'unwritten' && files.every(({ unusable }) => unusable));
}

/** In the file and reported so; or of no use, and reported so. */
function isAccountedFor(
  record: string,
  entries: readonly HistoryEntry[],
  told: ReadonlyMap<string, ReadonlySet<unknown>>,
): boolean {
  const entry = entries.find((one) => one.record === record);
  if (entry?.outcome === 'written') return entry.reported === 1 && told.get(record)?.has(1) === true;
  const isGivenUp = entry?.outcome === 'unusable' || entry?.outcome === 'given-up';
  return isGivenUp && told.get(record)?.has(2) === true;
}

/** What the service noted of each record; its log comes through a pipe, a moment later. */
async function reportsOf({ stage, relay }: Scene): Promise<ReadonlyMap<string, ReadonlySet<unknown>>> {
  const lines = () => stage.server.operations('sign').filter(({ record }) => relay.records.includes(String(record)));
  for (let waited = 0; lines().length < relay.records.length && waited < PATIENCE_MILLISECONDS; waited += 20) {
    await sleep(20);
  }
  const told = new Map<string, Set<unknown>>();
  for (const { record, status } of stage.server.operations('report-sign')) {
    if (!relay.records.includes(String(record))) continue;
    told.set(String(record), (told.get(String(record)) ?? new Set()).add(status));
  }
  return told;
}
