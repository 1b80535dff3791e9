/** Servers over one data folder and one database. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyData, numberFor, runServerCommand } from '../../../test/support/services/server-data.ts';
import { tokenFolder } from '../../src/keys/softhsm.ts';
import { dataFolder } from '../../src/setup/data-folder.ts';
import { openStore } from '../../src/setup/open-data.ts';
import { addClient } from './clients.ts';
import { instance } from './instances.ts';
import { startPostgres } from './postgres.ts';

/** These commands create the same data in PostgreSQL that `copyData` copies for SQLite. */
const COMMANDS = [['init'], ['certificate', 'add', '--number', numberFor(2048), '--bits', '2048']];

export type Scene = Awaited<ReturnType<typeof openScene>>;

/**
 * Starts several servers on one data folder and one database.
 * @returns the test's own store on that database, the address of the database, and the folder of SoftHSM's tokens too
 */
export async function openScene(kind: 'SQLite' | 'PostgreSQL', servers: number) {
  const data = await mkdtemp(join(tmpdir(), 'codesign-quota-'));
  const postgres = kind === 'PostgreSQL' ? await startPostgres() : undefined;
  const cleanUp: (() => Promise<unknown>)[] = [
    async () => await rm(data, { recursive: true, force: true }),
    ...(postgres ? [() => postgres.stop()] : []),
  ];
  const close = async () => {
    for (const each of cleanUp.reverse()) await each();
  };
  try {
    const database = await postgres?.newDatabase();
    if (database === undefined) await copyData(data, 2048);
    else for (const make of COMMANDS) await runServerCommand(...make, '--data', data, '--database', database);
    const folder = dataFolder(data);
    const store = await openStore(folder, database, 'use');
    cleanUp.push(() => store.close());
    await addClient(store); // so that no start adds one

    const config = { logLevel: 'error', ...(database && { database }) };
    const instances = Array.from({ length: servers }, (_, index) => instance({ data, config }, `server-${index}`));
    for (const each of instances) cleanUp.push(() => each.stop());
    await Promise.all(instances.map((each) => each.start()));
    const tokens = tokenFolder(folder.path);
    return { store, instances, postgres, database, tokens, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
