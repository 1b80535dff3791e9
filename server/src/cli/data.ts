import type { Command, CommandOptions } from 'commander';
import { type DataConfig, type DataOptions, dataConfig } from '../config.ts';
import { ServerError } from '../errors.ts';
import type { Viewer } from '../records/rows.ts';
import type { Store } from '../records/store.ts';
import { dataFolder, isMade } from '../setup/data-folder.ts';
import { type OpenData, openData, openStore } from '../setup/open-data.ts';
import type { Surroundings } from '../start.ts';

export function dataCommand(parent: Command, name: string, description: string, options?: CommandOptions): Command {
  return parent
    .command(name, options)
    .description(description)
    .exitOverride()
    .option('--config <file>', 'JSON file with settings (CODESIGN_SERVER_CONFIG); options and environment override it')
    .option('--data <folder>', "data folder (CODESIGN_SERVER_DATA; default: the platform's)")
    .option('--database <url>', 'postgres://… for several servers (CODESIGN_SERVER_DATABASE; default: SQLite)')
    .option('--pkcs11-library <path>', "the HSM's PKCS#11 library (CODESIGN_SERVER_PKCS11_LIBRARY; default: SoftHSM's)")
    .option('--pkcs11-token <label>', 'existing token (CODESIGN_SERVER_PKCS11_TOKEN; default: one in the data folder)')
    .option('--pkcs11-pin-file <path>', 'file with the PIN of the token (CODESIGN_SERVER_PKCS11_PIN_FILE)');
}

export function listCommand(parent: Command, name: string, description: string, options?: CommandOptions): Command {
  return dataCommand(parent, name, description, options).option('--json', 'JSON array instead of a table');
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function holderNamed<Holder extends Viewer>(
  kind: 'client' | 'viewer',
  holders: readonly Holder[],
  given: string,
): Holder {
  const withKey = holders.find(({ accessKey }) => accessKey === given);
  const found = withKey === undefined ? holders.filter(({ name }) => name === given) : [withKey];
  const [holder] = found;
  if (holder === undefined) throw new ServerError('holder-not-found', { kind }); // not the given text, which may be a secret
  if (found.length > 1) {
    throw new ServerError('name-ambiguous', { name: given, keys: found.map(({ accessKey }) => accessKey).join(', ') });
  }
  return holder;
}

type Place = Pick<Surroundings, 'environment'>;

export function withData<T>(options: DataOptions, { environment }: Place, work: (data: OpenData) => Promise<T>) {
  return withOpen(dataConfig(options, environment), (config) => openData(config, environment, 'use'), work);
}

/** Opens the database but not the HSM, so that the command works without the HSM. */
export function withStore<T>(options: DataOptions, { environment }: Place, work: (store: Store) => Promise<T>) {
  const open = ({ dataRoot, database }: DataConfig) => openStore(dataFolder(dataRoot), database, 'use');
  return withOpen(dataConfig(options, environment), open, work);
}

async function withOpen<Opened extends { close(): Promise<void> }, T>(
  config: DataConfig,
  open: (config: DataConfig) => Promise<Opened>,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const { dataRoot: path } = config;
  if (!(await isMade(dataFolder(path)))) throw new ServerError('data-folder-not-made', { path });
  const opened = await open(config);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}
