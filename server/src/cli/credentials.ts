import { type Command, Option } from 'commander';
import { type DataOptions, dataConfig, startConfig } from '../config.ts';
import { ServerError } from '../errors.ts';
import type { Client } from '../records/rows.ts';
import type { Store } from '../records/store.ts';
import { type Address, configuredAddress, lastAddress } from '../setup/address.ts';
import { addClient, serviceVariables } from '../setup/clients.ts';
import { chooseReceiver, credentialVariables, give, newCredentials, newSecret } from '../setup/credentials.ts';
import { dataFolder } from '../setup/data-folder.ts';
import type { Surroundings } from '../start.ts';
import { type ListOptions, printList } from '../text.ts';
import { collect, dataCommand, listCommand, withStore } from './data.ts';
import { readAlgorithm, readName, readQuota, readTime } from './values.ts';

interface ClientOptions extends DataOptions {
  readonly name?: string;
  readonly certificate?: readonly string[];
  readonly allCertificates?: boolean;
  readonly algorithm?: readonly string[];
  readonly allAlgorithms?: boolean;
  readonly quota?: string;
  readonly expires?: string;
  readonly clientEnv?: string;
  readonly baseUrl?: string;
}
type ClientChange = Parameters<Store['clients']['change']>[1];

const EXPIRES = 'time of expiry, as in 2030-12-31 or 2030-12-31T18:00:00Z';
const NEW_FILE = 'new file for access key and secret, instead of the terminal';
const NEW_ENVIRONMENT = "new file for the client's environment, instead of the terminal";
const BASE_URL = "address for CODESIGN_BASE_URL (default: the last start's)";

export function addClientCommands(program: Command, surroundings: Surroundings): void {
  const { environment, now, announce, terminal } = surroundings;
  /** Options and output for printing credentials. */
  const receiverOf = async ({ clientEnv, baseUrl, ...options }: ClientOptions) => {
    const { dataRoot } = dataConfig(options, environment);
    const folder = dataFolder(dataRoot);
    const receiver = await chooseReceiver(clientEnv, dataRoot, terminal);
    return { folder, receiver, address: await addressFor(options, baseUrl, surroundings) };
  };
  const change = async (options: DataOptions, accessKey: string, what: ClientChange): Promise<void> => {
    const known = await withStore(options, surroundings, (store) => store.clients.change(accessKey, what));
    if (!known) throw new ServerError('client-not-found', { accessKey });
  };
  const client = program.command('client').description('who may sign, with which certificates, and how often');

  dataCommand(client, 'add', 'adds a client, shows its secret once, and prints its access key')
    .option('--name <name>', 'name for people')
    .option('--certificate <number>', 'certificate it may use; repeatable (default: all)', collect)
    .option('--algorithm <name>', 'digest algorithm it may use; repeatable (default: all)', collect)
    .option('--quota <n>', 'limit of signatures ever, or none', 'none')
    .option('--expires <time>', EXPIRES)
    .option('--client-env <path>', NEW_ENVIRONMENT)
    .option('--base-url <url>', BASE_URL)
    .action(async (options: ClientOptions) => {
      const { name, expires, certificate: certificates } = options;
      const restrictions = {
        name: name ? readName('--name', name) : undefined,
        certificates,
        algorithms: options.algorithm?.map(readAlgorithm),
        quota: readQuota('--quota', options.quota ?? 'none'),
        expiresAt: expires === undefined ? undefined : readTime('--expires', expires),
      };
      const { folder, receiver, address } = await receiverOf(options);
      await withStore(options, surroundings, async (store) => {
        await requireCertificates(store, certificates);
        announce(await addClient({ store, folder }, restrictions, { address, receiver, now: now() }));
      });
    });

  listCommand(client, 'list', 'lists access key, name, state, expiry, signatures, quota, and what it may use').action(
    async (options: DataOptions & ListOptions) => {
      const clients = await withStore(options, surroundings, (store) => store.clients.list());
      const rows = clients.map((each) => {
        const { accessKey, name = null, signatures, quota = null } = each;
        const { certificates = null, algorithms = null, expiresAt = null } = each;
        return { accessKey, name, state: stateOf(each, now()), signatures, quota, expiresAt, certificates, algorithms };
      });
      printList(rows, options, announce);
    },
  );

  dataCommand(client, 'change <access-key>', 'changes what is given and keeps the rest; takes effect at the next call')
    .option('--name <name>', "name for people; '' for no name")
    .option('--certificate <number>', 'only certificate it may use; repeatable', collect)
    .addOption(new Option('--all-certificates', 'it may use every certificate').conflicts('certificate'))
    .option('--algorithm <name>', 'only digest algorithm it may use; repeatable', collect)
    .addOption(new Option('--all-algorithms', 'it may use every digest algorithm').conflicts('algorithm'))
    .option('--expires <time>', `${EXPIRES}, or none`)
    .action(async (accessKey: string, options: ClientOptions) => {
      const { name, certificate, allCertificates, algorithm, allAlgorithms, expires } = options;
      const what: ClientChange = {
        ...(name !== undefined && { name: name === '' ? undefined : readName('--name', name) }),
        ...((certificate ?? allCertificates) && { certificates: certificate }),
        ...((algorithm ?? allAlgorithms) && { algorithms: algorithm?.map(readAlgorithm) }),
        ...(expires !== undefined && { expiresAt: expires === 'none' ? undefined : readTime('--expires', expires) }),
      };
      if (Object.keys(what).length === 0) throw new ServerError('nothing-to-change', { accessKey });
      await withStore(options, surroundings, (store) => requireCertificates(store, certificate));
      await change(options, accessKey, what);
    });

  for (const [name, disabled] of [
    ['disable', true],
    ['enable', false],
  ] as const) {
    const description = disabled ? 'rejects calls of a client from the next one on' : 'undoes client disable';
    dataCommand(client, `${name} <access-key>`, description).action((accessKey: string, options: DataOptions) =>
      change(options, accessKey, { disabled }),
    );
  }

  dataCommand(client, 'rotate <access-key>', 'replaces the secret and shows the new one once')
    .option('--client-env <path>', NEW_ENVIRONMENT)
    .option('--base-url <url>', BASE_URL)
    .action(async (accessKey: string, options: ClientOptions) => {
      const { folder, receiver, address } = await receiverOf(options);
      const { accessSecret, secretDigest } = newSecret();
      await withStore(options, surroundings, async (store) => {
        const known = await store.clients.findByAccessKey(accessKey);
        if (known === undefined) throw new ServerError('client-not-found', { accessKey });
        const service = await serviceVariables({ store, folder }, known, address, now());
        await give(receiver, [...service, ...credentialVariables(accessKey, accessSecret)], () =>
          store.clients.change(accessKey, { secretDigest }),
        );
      });
    });

  const quota = program.command('quota').description('how many signatures clients have left');
  const listed = 'lists access key, name, signatures, quota, and what is left';
  listCommand(quota, 'list', listed, { isDefault: true }).action(async (options: DataOptions & ListOptions) => {
    const clients = await withStore(options, surroundings, (store) => store.clients.list());
    const rows = clients.map(({ accessKey, name = null, signatures, quota: limit = null }) => {
      const left = limit === null ? null : Math.max(0, limit - signatures);
      return { accessKey, name, signatures, quota: limit, left };
    });
    printList(rows, options, announce);
  });
  dataCommand(quota, 'set <access-key> <n>', 'sets the limit of signatures ever, or none').action(
    (accessKey: string, value: string, options: DataOptions) =>
      change(options, accessKey, { quota: readQuota('the quota', value) }),
  );
}

export function addViewerCommands(program: Command, surroundings: Surroundings): void {
  const { environment, now, announce, terminal } = surroundings;
  const viewer = program.command('viewer').description('who may look at the page at /, but not sign');

  dataCommand(viewer, 'add', 'adds a viewer, shows its secret once, and prints its access key')
    .option('--name <name>', 'name for people')
    .option('--expires <time>', EXPIRES)
    .option('--viewer-env <path>', NEW_FILE)
    .action(async (options: DataOptions & { name?: string; expires?: string; viewerEnv?: string }) => {
      const { name, expires, viewerEnv } = options;
      const about = {
        name: name ? readName('--name', name) : undefined,
        expiresAt: expires === undefined ? undefined : readTime('--expires', expires),
      };
      const { dataRoot } = dataConfig(options, environment);
      const receiver = await chooseReceiver(viewerEnv, dataRoot, terminal, '--viewer-env');
      await withStore(options, surroundings, async ({ viewers }) => {
        const { accessSecret, ...credentials } = newCredentials('VK');
        const { accessKey } = credentials;
        const variables = credentialVariables(accessKey, accessSecret, 'CODESIGN_VIEWER');
        const add = () => viewers.add({ ...credentials, ...about }, now());
        await give(receiver, variables, add, "User name and password for the server's page");
        announce(accessKey);
      });
    });

  listCommand(viewer, 'list', 'lists access key, name, state and expiry').action(
    async (options: DataOptions & ListOptions) => {
      const viewers = await withStore(options, surroundings, (store) => store.viewers.list());
      const rows = viewers.map(({ accessKey, name = null, expiresAt = null }) => {
        return { accessKey, name, state: expiresAt === null || now() < expiresAt ? 'active' : 'expired', expiresAt };
      });
      printList(rows, options, announce);
    },
  );

  dataCommand(viewer, 'remove <access-key>', 'removes a viewer; takes effect at the next call').action(
    async (accessKey: string, options: DataOptions) => {
      const known = await withStore(options, surroundings, (store) => store.viewers.remove(accessKey));
      if (!known) throw new ServerError('viewer-not-found', { accessKey });
    },
  );
}

async function requireCertificates(store: Store, numbers: readonly string[] = []): Promise<void> {
  for (const number of numbers) {
    if ((await store.certificates.find(number)) === undefined)
      throw new ServerError('certificate-not-found', { number });
  }
}

/** The address for a client's environment. */
async function addressFor(
  options: DataOptions,
  baseUrl: string | undefined,
  { environment, log }: Surroundings,
): Promise<Address> {
  if (baseUrl !== undefined && !(URL.canParse(baseUrl) && new URL(baseUrl).protocol === 'https:')) {
    throw new ServerError('invalid-option', { option: '--base-url', value: baseUrl, expected: 'an https address' });
  }
  const folder = dataFolder(dataConfig(options, environment).dataRoot);
  const last = await lastAddress(folder);
  const { caFile, ...known } = last ?? (await configuredAddress(folder, startConfig(options, environment)));
  if (last === undefined && baseUrl === undefined) {
    log.write(
      `the server has not been started yet: clients get its configured address, ${known.baseUrl}. --base-url sets another\n`,
    );
  }
  return { baseUrl: baseUrl ?? known.baseUrl, caFile };
}

function stateOf({ disabled, expiresAt }: Client, now: Date): string {
  if (disabled) return 'disabled';
  return expiresAt === undefined || now < expiresAt ? 'active' : 'expired';
}
