import { type Command, Option } from 'commander';
import { type DataOptions, readConfig } from '../config.ts';
import { ServerError } from '../errors.ts';
import { whyRejected } from '../http/auth.ts';
import { quotasOf } from '../records/rows.ts';
import type { Store } from '../records/store.ts';
import { type Address, configuredAddress, lastAddress } from '../setup/address.ts';
import { addClient, serviceVariables } from '../setup/clients.ts';
import { chooseReceiver, credentialVariables, give, newSecret } from '../setup/credentials.ts';
import { dataFolder } from '../setup/data-folder.ts';
import type { Surroundings } from '../start.ts';
import { collect, dataCommand, holderNamed, listCommand, operationOf, withStore } from './data.ts';
import { EXPIRES, readAlgorithm, readDuration, readName, readQuota, readTime } from './values.ts';

interface ClientOptions extends DataOptions {
  readonly name?: string;
  readonly certificate?: readonly string[];
  readonly allCertificates?: boolean;
  readonly algorithm?: readonly string[];
  readonly allAlgorithms?: boolean;
  readonly quota?: string;
  readonly monthlyQuota?: string;
  readonly expires?: string;
  readonly clientEnv?: string;
  readonly baseUrl?: string;
  readonly keepOld?: string;
}
type ClientChange = Parameters<Store['clients']['change']>[1];

const NEW_ENVIRONMENT = "path of a new file for the client's environment (default: print to the terminal)";
const BASE_URL = 'address for CODESIGN_BASE_URL (default: address of the last start)';

export function addClientCommands(program: Command, surroundings: Surroundings): void {
  const { environment, now, announce, terminal } = surroundings;
  const receiverOf = async ({ clientEnv, baseUrl, ...options }: ClientOptions) => {
    const { dataRoot } = readConfig(options, environment);
    const folder = dataFolder(dataRoot);
    const receiver = await chooseReceiver(clientEnv, dataRoot, terminal);
    return { folder, receiver, address: await addressFor(options, baseUrl, surroundings) };
  };
  const change = async (options: DataOptions, command: Command, given: string, what: ClientChange): Promise<void> =>
    await withStore(options, surroundings, async (store) => {
      const { accessKey: target } = holderNamed('client', await store.clients.list(), given);
      await requireCertificates(store, what.certificates);
      await store.change({ ...operationOf(command, surroundings), target }, ({ clients }) =>
        clients.change(target, what),
      );
    });
  const client = program
    .command('client')
    .description('manages the clients that may sign, their certificates and their limits');

  dataCommand(client, 'add', 'adds a client, shows its secret once, and prints its access key')
    .option('--name <name>', 'display name of the client')
    .option('--certificate <number>', 'certificate that the client may use; repeatable (default: all)', collect)
    .option('--algorithm <name>', 'digest algorithm that the client may use; repeatable (default: all)', collect)
    .option('--quota <n>', 'limit on the total number of signatures, or "none" for no limit', 'none')
    .option('--monthly-quota <n>', 'limit on the number of signatures per month (UTC), or "none" for no limit', 'none')
    .option('--expires <time>', EXPIRES)
    .option('--client-env <path>', NEW_ENVIRONMENT)
    .option('--base-url <url>', BASE_URL)
    .action(async (options: ClientOptions, command: Command) => {
      const { name, expires, certificate: certificates } = options;
      const restrictions = {
        name: name ? readName('--name', name) : undefined,
        certificates,
        algorithms: options.algorithm?.map(readAlgorithm),
        quota: readQuota('--quota', options.quota ?? 'none'),
        monthlyQuota: readQuota('--monthly-quota', options.monthlyQuota ?? 'none'),
        expiresAt: expires === undefined ? undefined : readTime('--expires', expires),
      };
      const { folder, receiver, address } = await receiverOf(options);
      await withStore(options, surroundings, async (store) => {
        await requireCertificates(store, certificates);
        const operation = operationOf(command, surroundings);
        announce(await addClient({ store, folder }, restrictions, { address, receiver, operation }));
      });
    });

  const shown = 'lists the access key, name, state, signatures, quota, expiry date and permissions of each client';
  listCommand(client, shown, surroundings, async (store) =>
    (await store.clients.list()).map((each) => {
      const { accessKey, name = null, signatures, quota = null } = each;
      const { certificates = null, algorithms = null, expiresAt = null, previous } = each;
      const oldSecretUntil = previous !== undefined && now() < previous.until ? previous.until : null;
      const may = { certificates, algorithms, oldSecretUntil };
      return { accessKey, name, state: whyRejected(each, now()) ?? 'active', signatures, quota, expiresAt, ...may };
    }),
  );

  dataCommand(client, 'change <client>', "changes the given settings of a client, from the client's next call on")
    .option('--name <name>', "display name of the client; '' removes the name")
    .option('--certificate <number>', 'certificate that the client may use from now on; repeatable', collect)
    .addOption(new Option('--all-certificates', 'allow every certificate').conflicts('certificate'))
    .option('--algorithm <name>', 'digest algorithm that the client may use from now on; repeatable', collect)
    .addOption(new Option('--all-algorithms', 'allow every digest algorithm').conflicts('algorithm'))
    .option('--expires <time>', `${EXPIRES}, or none`)
    .action(async (given: string, options: ClientOptions, command: Command) => {
      const { name, certificate, allCertificates, algorithm, allAlgorithms, expires } = options;
      const what: ClientChange = {
        ...(name !== undefined && { name: name === '' ? undefined : readName('--name', name) }),
        ...((certificate ?? allCertificates) && { certificates: certificate }),
        ...((algorithm ?? allAlgorithms) && { algorithms: algorithm?.map(readAlgorithm) }),
        ...(expires !== undefined && { expiresAt: expires === 'none' ? undefined : readTime('--expires', expires) }),
      };
      if (Object.keys(what).length === 0) throw new ServerError('nothing-to-change');
      await change(options, command, given, what);
    });

  const disable = dataCommand(client, 'disable <client>', 'rejects all further calls from a client');
  const enable = dataCommand(client, 'enable <client>', 'enables a disabled client');
  for (const each of [disable, enable]) {
    each.action((given: string, options: DataOptions, command: Command) =>
      change(options, command, given, { disabled: command === disable }),
    );
  }

  const keepOldHelp = 'time for which the old secret stays valid, such as 30m, 24h or 7d (default: none)';
  dataCommand(client, 'rotate <client>', 'replaces the secret of a client and shows the new secret once')
    .option('--keep-old <duration>', keepOldHelp)
    .option('--client-env <path>', NEW_ENVIRONMENT)
    .option('--base-url <url>', BASE_URL)
    .action(async (given: string, options: ClientOptions, command: Command) => {
      const keepOld = options.keepOld === undefined ? undefined : readDuration('--keep-old', options.keepOld, now());
      const { folder, receiver, address } = await receiverOf(options);
      const { accessSecret, secretDigest } = newSecret();
      await withStore(options, surroundings, async (store) => {
        const known = holderNamed('client', await store.clients.list(), given);
        const { accessKey: target } = known;
        const service = await serviceVariables({ store, folder }, known, address, now());
        await give(receiver, [...service, ...credentialVariables(target, accessSecret)], () =>
          store.change({ ...operationOf(command, surroundings), target }, ({ clients }) =>
            clients.rotate(target, secretDigest, keepOld),
          ),
        );
      });
    });

  const quota = program.command('quota').description('manages signature limits and shows the remaining signatures');
  const listed = 'lists the access key, name, signatures, quotas and remaining signatures of each client';
  const quotasShown = async (store: Store) =>
    (await store.clients.list()).map((each) => {
      const { accessKey, name = null } = each;
      const [total, month] = quotasOf(each);
      return {
        ...{ accessKey, name, signatures: total.used, quota: total.quota ?? null, left: total.left ?? null },
        ...{ thisMonth: month.used, monthlyQuota: month.quota ?? null, leftThisMonth: month.left ?? null },
      };
    });
  listCommand(quota, listed, surroundings, quotasShown, { isDefault: true });
  const set = 'sets the limit on the total number of signatures, or removes the limit ("none")';
  dataCommand(quota, 'set <client> <n>', set)
    .option('--monthly', 'limits the signatures per month (UTC) instead of the total')
    .action((given: string, value: string, options: DataOptions & { monthly?: boolean }, command: Command) => {
      const limit = readQuota('the quota', value);
      return change(options, command, given, options.monthly ? { monthlyQuota: limit } : { quota: limit });
    });
}

async function requireCertificates(store: Store, numbers: readonly string[] = []): Promise<void> {
  for (const number of numbers) {
    if ((await store.certificates.find(number)) === undefined)
      throw new ServerError('certificate-not-found', { number });
  }
}

async function addressFor(
  options: DataOptions,
  baseUrl: string | undefined,
  { environment, log }: Surroundings,
): Promise<Address> {
  if (baseUrl !== undefined && !(URL.canParse(baseUrl) && new URL(baseUrl).protocol === 'https:')) {
    throw new ServerError('invalid-option', { option: '--base-url', value: baseUrl, expected: 'an https address' });
  }
  const folder = dataFolder(readConfig(options, environment).dataRoot);
  const last = await lastAddress(folder);
  const { caFile, ...known } = last ?? (await configuredAddress(folder, readConfig(options, environment)));
  if (last === undefined && baseUrl === undefined) {
    log.write(
      `the server has not been started yet, so clients get the configured address ${known.baseUrl}. Use --base-url to set another address\n`,
    );
  }
  return { baseUrl: baseUrl ?? known.baseUrl, caFile };
}
