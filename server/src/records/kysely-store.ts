/** The store over any database that kysely speaks to. */

import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { type BatchOptions, createBatches } from './batches.ts';
import { authoritiesOf, certificateRequestsOf, certificatesOf } from './certificates.ts';
import { clientsOf, viewersOf } from './holders.ts';
import { quotaOf, type Step } from './quota.ts';
import { recordsOf } from './records.ts';
import type { Tables } from './rows.ts';
import type { Client, Store, StoredCertificate } from './store.ts';

/** More would make a statement long, and the first of them wait for the last. */
const MOST = 256;
/** From so many on, a batch costs hardly less for each of them when it is longer. */
const ENOUGH = 64;

/** A record has about this many, most of them its signature and its extra. */
const CHECK_BYTES = 2048;

/** The queries of every call, each for several concurrent calls. */
export interface Shared {
  findClients(accessKeys: readonly string[]): Promise<readonly (Client | undefined)[]>;
  findCertificates(numbers: readonly string[]): Promise<readonly (StoredCertificate | undefined)[]>;
  /** Runs all steps, or none if it rejects. @returns for each step whether the quota was sufficient */
  takeSteps(steps: readonly Step[]): Promise<readonly boolean[]>;
  /** A faster way for most of the steps. Those that it leaves out, whose results are undefined, go to `takeSteps`. */
  takeMostSteps?(steps: readonly Step[]): Promise<readonly (boolean | undefined)[]>;
}

/** The store over a database whose tables are up to date. @param close ends its connections */
export function storeOver(database: Kysely<Tables>, shared: Shared, close: () => Promise<void>): Store {
  const gathering = createGathering();
  const together: BatchOptions = { most: MOST, enough: ENOUGH, gather: gathering.time, isOfOne: isBadData };
  const steps = createBatches<Step, boolean>(shared.takeSteps, together);
  const { takeMostSteps } = shared;
  const mostSteps =
    takeMostSteps &&
    createBatches<Step, boolean>(async (asked) => {
      const places = await takeMostSteps(asked);
      return asked.map((step, index) => places[index] ?? steps.add(step));
    }, together);
  const take = async (step: Step): Promise<boolean> => {
    const place = await (mostSteps ?? steps).add(step);
    gathering.taken(step, place);
    return place;
  };
  const batches = {
    clients: createBatches(shared.findClients, together),
    certificates: createBatches(shared.findCertificates, together),
  };
  const quota = quotaOf(database, take);
  return {
    viewers: viewersOf(database),
    clients: clientsOf(database, batches.clients),
    certificates: certificatesOf(database, batches.certificates),
    certificateRequests: certificateRequestsOf(database),
    authorities: authoritiesOf(database),
    quota: {
      ...quota,
      async release(lease) {
        const outcome = await quota.release(lease);
        gathering.released();
        return outcome;
      },
    },
    records: recordsOf(database, take),
    async check() {
      // As much as a signature stores, in a transaction that leaves nothing behind: a full disk rejects it.
      const row = { number: `check-${randomUUID()}`, key_id: '', request: ' '.repeat(CHECK_BYTES), created_at: '' };
      await database.transaction().execute(async (transaction) => {
        await transaction.insertInto('certificate_requests').values(row).execute();
        await transaction.deleteFrom('certificate_requests').where('number', '=', row.number).execute();
      });
    },
    async close() {
      await Promise.all(Object.values(batches).map((each) => each.drain()));
      await mostSteps?.drain();
      await steps.drain(); // what the batches before left for it
      await close();
    },
  };
}

/** Whether a database refused what it was given, by PostgreSQL's classes 22 and 23 and by SQLite's names: it is there, and others fare better. */
function isBadData(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(2[23]|SQLITE_(CONSTRAINT|MISMATCH|TOOBIG))/.test(code);
}

/** In milliseconds. Gathering costs each call little time, and saves the processor far more work. */
const LEAST = 10;
const LONGEST = 60;
/** A batch gathers one millisecond for this many calls at the HSM: where many wait there, waiting here costs no time. */
const CALLS_A_MILLISECOND = 3;

export interface Gathering {
  /** Milliseconds. */
  time(): number;
  /** A step was taken: a call that got a place goes to the HSM, one that is counted, or is too late to be, comes from there. */
  taken(step: Step, place: boolean): void;
  /** A call gave its place back. */
  released(): void;
}

export function createGathering(): Gathering {
  /** Calls that have a place of a quota and no record yet. */
  let atHsm = 0;
  return {
    time: () => Math.min(Math.max(atHsm / CALLS_A_MILLISECOND, LEAST), LONGEST),
    taken(step, place) {
      atHsm += 'record' in step ? -1 : Number(place);
    },
    released() {
      atHsm -= 1;
    },
  };
}
