/** A process of its own that signs with a journal: bundled and started by the tests, and ended by them at any moment. */

import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CodesignError } from '../../../../src/errors/codesign-error.ts';
import type { Journal } from '../../../../src/journal/journal.ts';
import { openJournal } from '../../../../src/journal/open-journal.ts';
import { observeProcesses } from '../../../../src/journal/processes.ts';
import { countChanges, watchChanges } from './disruption.ts';
import { factsOf, SIGNATURE, workOf } from './works.ts';

export interface WorkerOptions {
  readonly folder: string;
  /** Where the service's own count is kept: a line for each request and each report. */
  readonly service: string;
  /** Numbers of the works, signed side by side. */
  readonly works: readonly number[];
  /** Milliseconds that the service takes. */
  readonly serviceTime: number;
  /** The process ends at the file system's n-th change, counted from 1. */
  readonly killAt?: number;
}

async function openHere(folder: string): Promise<Journal> {
  return await openJournal({
    folder,
    now: () => new Date(),
    uptime: () => Number(process.hrtime.bigint()) / 1e6,
    randomId: () => randomBytes(8).toString('hex'),
    processes: await observeProcesses(),
    keepDays: 90,
    runningFor: process.uptime() * 1000,
  });
}

async function signOne(journal: Journal, number: number, { service, serviceTime }: WorkerOptions): Promise<void> {
  const file = `file-${number}`;
  const claim = await journal.claim(workOf(number), factsOf(file));
  try {
    let record = claim.known?.record;
    if (claim.known === undefined) {
      await claim.requested();
      appendFileSync(service, `request ${number}\n`);
      await sleep(serviceTime);
      record = `record-${claim.id}`;
      await claim.signed({ signature: SIGNATURE, record });
    }
    const { reportDue } = await claim.written(file);
    if (!reportDue) return;
    appendFileSync(service, `report ${record}\n`);
    await claim.reported(1);
  } finally {
    await claim.release();
  }
}

async function run(options: WorkerOptions): Promise<void> {
  const { killAt, folder, works } = options;
  if (killAt !== undefined) watchChanges(killAt);
  const failures: string[] = [];
  const note = (thrown: unknown): void => {
    failures.push(thrown instanceof CodesignError ? thrown.code : String(thrown));
  };
  try {
    const journal = await openHere(folder);
    await Promise.all(works.map((number) => signOne(journal, number, options).catch(note)));
    if (failures.length === 0) await journal.ended();
  } catch (thrown) {
    note(thrown);
  }
  process.stdout.write(JSON.stringify({ failures, changes: countChanges() }));
}

await run(JSON.parse(process.argv[2] ?? '') as WorkerOptions);
