import { hostname } from 'node:os';
import type { Command, CommandOptions } from 'commander';
import { type Config, type DataOptions, readConfig } from '../config.ts';
import { ServerError, userName } from '../errors.ts';
import { isThere } from '../files.ts';
import type { Operation } from '../records/audit.ts';
import type { Viewer } from '../records/rows.ts';
import type { Store } from '../records/store.ts';
import { quoted } from '../setup/credentials.ts';
import { dataFolder } from '../setup/data-folder.ts';
import { type OpenData, openData, openStore } from '../setup/open-data.ts';
import type { Surroundings } from '../start.ts';
import { type ListOptions, printList } from '../text.ts';

export function dataCommand(parent: Command, name: string, description: string, options?: CommandOptions): Command {
  return parent
    .command(name, options)
    .description(description)
    .exitOverride()
    .option('--config <file>', 'JSON file with settings (CODESIGN_SERVER_CONFIG); options and variables override it')
    .option(
      '--data <folder>',
      "data folder (CODESIGN_SERVER_DATA; default: in the platform's folder for application data)",
    )
    .option('--database <url>', 'postgres://… for several servers (CODESIGN_SERVER_DATABASE; default: SQLite)')
    .option('--pkcs11-library <path>', "PKCS#11 library (CODESIGN_SERVER_PKCS11_LIBRARY; default: SoftHSM's library)")
    .option(
      '--pkcs11-token <label>',
      'existing token in the HSM (CODESIGN_SERVER_PKCS11_TOKEN; default: a SoftHSM token)',
    )
    .option('--pkcs11-pin-file <path>', 'file with the PIN of the token (CODESIGN_SERVER_PKCS11_PIN_FILE)');
}

export function listCommand<Options extends DataOptions>(
  parent: Command,
  description: string,
  surroundings: Surroundings,
  rowsOf: (store: Store, options: Options & ListOptions) => Promise<readonly Readonly<Record<string, unknown>>[]>,
  commandOptions?: CommandOptions,
): Command {
  return dataCommand(parent, 'list', description, commandOptions)
    .option('--json', 'prints a JSON array instead of a table')
    .action(async (options: Options & ListOptions) => {
      const rows = await withStore(options, surroundings, (store) => rowsOf(store, options));
      printList(rows, options, surroundings.announce);
    });
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
  return withOpen(readConfig(options, environment), (config) => openData(config, environment, 'use'), work);
}

/** Works without the HSM. */
export function withStore<T>(options: DataOptions, { environment }: Place, work: (store: Store) => Promise<T>) {
  const open = ({ dataRoot, database }: Config) => openStore(dataFolder(dataRoot), database, 'use');
  return withOpen(readConfig(options, environment), open, work);
}

async function withOpen<Opened extends { close(): Promise<void> }, T>(
  config: Config,
  open: (config: Config) => Promise<Opened>,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const { dataRoot: path } = config;
  if (!(await isThere(dataFolder(path).path))) throw new ServerError('data-folder-not-made', { path });
  const opened = await open(config);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/** Options that the audit log omits: paths, and the database URL, which may contain a password. */
const NOT_RECORDED = [
  ...['config', 'data', 'database', 'pkcs11Library', 'pkcs11Token', 'pkcs11PinFile'],
  ...['clientEnv', 'viewerEnv', 'baseUrl', 'chain'],
];

/** Describes an executed command for the audit log. The caller adds the target, which is the first argument. */
export function operationOf(
  command: Command,
  { environment, now }: Pick<Surroundings, 'environment' | 'now'>,
): Operation {
  const names: string[] = [];
  for (let each: Command | null = command; each?.parent; each = each.parent) names.unshift(each.name());
  const options = command.options.flatMap((option) => {
    const name = option.attributeName();
    if (NOT_RECORDED.includes(name) || command.getOptionValueSource(name) !== 'cli') return [];
    const word = option.long?.slice(2) ?? name;
    const value: unknown = command.getOptionValue(name);
    if (typeof value === 'boolean') return [word];
    const shown = [value].flat().map((each) => (/^[\w.:,+-]+$/.test(`${each}`) ? each : quoted(`${each}`)));
    return shown.map((each) => `${word}=${each}`);
  });
  return {
    at: now(),
    operator: operatorIn(environment),
    host: hostname(),
    command: names.join(' '),
    details: [...command.args.slice(1), ...options].join(' '),
  };
}

function operatorIn({ SUDO_USER: caller }: NodeJS.ProcessEnv): string {
  const user = userName();
  return caller === undefined || caller === user ? user : `${caller} as ${user}`;
}
