/** What every administration command shares: each opens the data beside servers that may be running, does one thing, and closes it. */

import { serverError } from '../errors.ts';
import type { Store } from '../records/store.ts';
import { type DataFolder, dataFolder, isMade } from '../setup/data-folder.ts';
import { chooseHsm } from '../setup/hsm.ts';
import { makeData } from '../setup/make-data.ts';
import { type OpenData, openData, openStore, requireDatabase } from '../setup/open-data.ts';
import type { DataConfig } from './config.ts';

export interface AdminSurroundings {
  readonly environment: NodeJS.ProcessEnv;
  readonly now: () => Date;
  /** Takes one line of the result. */
  readonly announce: (line: string) => void;
  /** Writes to a person, or undefined where nobody watches. */
  readonly terminal: ((text: string) => void) | undefined;
}

/** `init`: makes the data where there is none yet. @returns its folder @throws ServerError */
export async function init(
  config: DataConfig,
  { environment, now }: Pick<AdminSurroundings, 'environment' | 'now'>,
): Promise<string> {
  const { database, dataRoot: root } = config;
  const hsm = await chooseHsm(config, environment);
  return (await makeData({ ...hsm, environment, now, root, database })).path;
}

/** For what needs keys as well. */
export async function withData<T>(
  config: DataConfig,
  { environment }: Pick<AdminSurroundings, 'environment'>,
  work: (data: OpenData) => Promise<T>,
): Promise<T> {
  const { library, token } = await chooseHsm(config, environment);
  const { database } = config;
  const data = await openData(await madeFolder(config), library, environment, { database, token });
  try {
    return await work(data);
  } finally {
    await data.close();
  }
}

/** For what needs no keys: it works without the HSM. */
export async function withStore<T>(config: DataConfig, work: (store: Store) => Promise<T>): Promise<T> {
  const folder = await madeFolder(config);
  if (config.database === undefined) await requireDatabase(folder);
  const store = await openStore(folder, config.database);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function madeFolder({ dataRoot }: DataConfig): Promise<DataFolder> {
  const folder = dataFolder(dataRoot);
  if (!(await isMade(folder))) throw serverError('data-folder-not-made', { path: dataRoot });
  return folder;
}
