/** Three servers over one data folder and one database, for the quota's tests. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyData } from '../../../test/support/server-data.ts';
import { dataFolder } from '../../src/setup/data-folder.ts';
import { openStore } from '../../src/setup/open-data.ts';
import { instance } from './instances.ts';
import { startPostgres } from './postgres.ts';
import { LEASE_SECONDS, quotaRound } from './quota-round.ts';

/** Runs this many rounds, one after the other, each with so many calls at once. */
export async function quotaRounds(kind: 'SQLite' | 'PostgreSQL', rounds: number, calls: number): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'codesign-quota-'));
  const postgres = kind === 'PostgreSQL' ? await startPostgres() : undefined;
  const cleanUp: (() => Promise<unknown>)[] = [
    async () => await rm(data, { recursive: true, force: true }),
    ...(postgres ? [() => postgres.stop()] : []),
  ];
  try {
    await copyData(data, 2048);
    const database = postgres?.newDatabase();
    const folder = dataFolder(data);
    if (database !== undefined) await copyStore(folder.database, database);
    const store = await openStore(folder, database);
    cleanUp.push(() => store.close());
    const nobody = { id: 'first', accessKey: 'AK-first', secretDigest: Buffer.alloc(32) };
    await store.clients.addPending(nobody, new Date());
    await store.clients.markHandedOver('first'); // so that no start hands credentials over

    const config = { limits: { leaseSeconds: LEASE_SECONDS }, logLevel: 'error', ...(database && { database }) };
    const instances = ['one', 'two', 'three'].map((name) => instance({ data, config }, name));
    for (const each of instances) cleanUp.push(() => each.stop());
    await Promise.all(instances.map((each) => each.start()));
    for (let round = 0; round < rounds; round++) await quotaRound(store, instances, calls);
  } finally {
    for (const each of cleanUp.reverse()) await each();
  }
}

/** The made data's certificates and authority, which are in SQLite, in another database. */
async function copyStore(path: string, database: string): Promise<void> {
  const [from, to] = [
    await openStore(dataFolder(join(path, '..', '..')), undefined),
    await openStore(dataFolder(''), database),
  ];
  try {
    for (const certificate of await from.certificates.list()) await to.certificates.add(certificate, new Date());
    const authority = await from.authority.get();
    if (authority !== undefined) await to.authority.set(authority);
  } finally {
    await from.close();
    await to.close();
  }
}
