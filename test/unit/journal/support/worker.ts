/** A process of its own that signs with a journal: bundled and started by the tests, and ended by them at any statement. */

import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CodesignError } from '../../../../src/errors/codesign-error.ts';
import { type Database, openDatabase } from '../../../../src/journal/driver.ts';
import type { Journal } from '../../../../src/journal/journal.ts';
import { openJournal } from '../../../../src/journal/open-journal.ts';
import { askingOf, factsAt, optionsHere, SIGNATURE } from './works.ts';

export interface WorkerOptions {
  readonly folder: string;
  /** Where the service's own count is kept: a line for each request and each report. */
  readonly service: string;
  /** Numbers of the works, signed side by side. */
  readonly works: readonly number[];
  /** Milliseconds that the service takes. */
  readonly serviceTime: number;
  /** The process ends at the n-th statement of the database, counted from 1. */
  readonly killAt?: number;
}

let statements = 0;

/** Ends this process before the chosen statement. */
function killedAt(killAt: number | undefined): (path: string) => Database {
  const meet = (): void => {
    statements += 1;
    if (statements === killAt) process.kill(process.pid, 'SIGKILL');
  };
  return (path) =>
    new Proxy(openDatabase(path), {
      get(db, name: keyof Database) {
        meet();
        return db[name];
      },
    });
}

async function signOne(journal: Journal, number: number, { service, serviceTime }: WorkerOptions): Promise<void> {
  const file = `file-${number}`;
  const asking = askingOf(number, factsAt(file));
  for (;;) {
    const known = await journal.known(asking);
    const claim = known ?? (await journal.claim(asking));
    if (claim === undefined) continue;
    let record = claim.known?.record;
    if (claim.known === undefined) {
      await claim.requested();
      claim.mayBeSent();
      appendFileSync(service, `request ${number}\n`);
      await sleep(serviceTime);
      record = `record-${claim.id}`;
      await claim.signed({ signature: SIGNATURE, record });
    }
    const { reportDue } = await claim.written();
    if (reportDue === undefined) return;
    appendFileSync(service, `report ${record}\n`);
    await claim.reported(reportDue);
    return;
  }
}

async function run(options: WorkerOptions): Promise<void> {
  const failures: string[] = [];
  const note = (thrown: unknown): void => {
    failures.push(thrown instanceof CodesignError ? thrown.code : String(thrown));
  };
  try {
    const given = { ...optionsHere(options.folder), runningFor: process.uptime() * 1000 };
    const journal = await openJournal({ ...given, openDatabase: killedAt(options.killAt) });
    await Promise.all(options.works.map((number) => signOne(journal, number, options).catch(note)));
    await journal.close();
    if (failures.length === 0) journal.ended();
    failures.push(...journal.warnings);
  } catch (thrown) {
    note(thrown);
  }
  process.stdout.write(JSON.stringify({ failures, statements }));
}

await run(JSON.parse(process.argv[2] ?? '') as WorkerOptions);
