/** The commands about clients with their quotas, and about viewers of the page. */

import { type Command, Option } from 'commander';
import { type DataOptions, dataConfig } from '../config.ts';
import { ServerError } from '../errors.ts';
import type { Client, Store } from '../records/store.ts';
import { chooseReceiver, give, newCredentials, newSecret, type Receiver } from '../setup/hand-over.ts';
import type { Surroundings } from '../start.ts';
import { type Columns, type ListOptions, printList } from '../text.ts';
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
}
type ClientChange = Parameters<Store['clients']['change']>[1];

const EXPIRES = 'time of expiry, as in 2030-12-31 or 2030-12-31T18:00:00Z';
const NEW_FILE = 'new file for access key and secret, instead of the terminal';

export function addClientCommands(program: Command, surroundings: Surroundings): void {
  const { environment, now, announce, terminal } = surroundings;
  const receiverOf = ({ clientEnv, ...options }: ClientOptions): Promise<Receiver> =>
    chooseReceiver(clientEnv, dataConfig(options, environment).dataRoot, terminal);
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
    .option('--client-env <path>', NEW_FILE)
    .action(async (options: ClientOptions) => {
      const { name, expires, certificate: certificates } = options;
      const restrictions = {
        name: name ? readName('--name', name) : undefined,
        certificates,
        algorithms: options.algorithm?.map(readAlgorithm),
        quota: readQuota('--quota', options.quota ?? 'none'),
        expiresAt: expires === undefined ? undefined : readTime('--expires', expires),
      };
      const receiver = await receiverOf(options);
      await withStore(options, surroundings, async (store) => {
        await requireCertificates(store, certificates);
        const { accessSecret, ...credentials } = newCredentials('AK');
        const { accessKey } = credentials;
        await store.clients.add({ ...restrictions, ...credentials }, now());
        try {
          await give(receiver, credentialLines(accessKey, accessSecret));
        } catch (error) {
          await store.clients.change(accessKey, { disabled: true }); // its secret was not handed over
          throw error;
        }
        announce(accessKey);
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
      const columns: Columns<(typeof rows)[number]> = {
        'ACCESS KEY': ({ accessKey }) => accessKey,
        NAME: ({ name }) => name ?? '',
        STATE: ({ state }) => state,
        EXPIRES: ({ expiresAt }) => expiresAt?.toISOString() ?? 'never',
        SIGNATURES: ({ signatures }) => signatures,
        QUOTA: ({ quota }) => quota ?? 'none',
        CERTIFICATES: ({ certificates }) => certificates?.join(',') ?? 'all',
        ALGORITHMS: ({ algorithms }) => algorithms?.join(',') ?? 'all',
      };
      printList(rows, columns, options, announce);
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
    .option('--client-env <path>', NEW_FILE)
    .action(async (accessKey: string, options: ClientOptions) => {
      const receiver = await receiverOf(options);
      const { accessSecret, secretDigest } = newSecret();
      await withStore(options, surroundings, async ({ clients }) => {
        if ((await clients.findByAccessKey(accessKey)) === undefined)
          throw new ServerError('client-not-found', { accessKey });
        await give(receiver, credentialLines(accessKey, accessSecret)); // first: the old secret works until the new one is there
        await clients.change(accessKey, { secretDigest });
      });
    });

  const quota = program.command('quota').description('how many signatures clients have left');
  const listed = 'lists access key, name, signatures, places held by calls under way, quota, and what is left';
  listCommand(quota, 'list', listed, { isDefault: true }).action(async (options: DataOptions & ListOptions) => {
    const clients = await withStore(options, surroundings, async (store) => {
      await store.quota.giveBackExpired(now());
      return await store.clients.list();
    });
    const rows = clients.map(({ accessKey, name = null, signatures, reserved, quota: limit = null }) => {
      const left = limit === null ? null : Math.max(0, limit - signatures - reserved);
      return { accessKey, name, signatures, reserved, quota: limit, left };
    });
    const columns: Columns<(typeof rows)[number]> = {
      'ACCESS KEY': ({ accessKey }) => accessKey,
      NAME: ({ name }) => name ?? '',
      SIGNATURES: ({ signatures }) => signatures,
      'UNDER WAY': ({ reserved }) => reserved,
      QUOTA: (row) => row.quota ?? 'none',
      LEFT: ({ left }) => left ?? 'unlimited',
    };
    printList(rows, columns, options, announce);
  });
  dataCommand(
    quota,
    'set <access-key> <n>',
    'sets the limit of signatures ever, including earlier ones, or none',
  ).action((accessKey: string, value: string, options: DataOptions) =>
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
        await viewers.add({ ...credentials, ...about }, now());
        try {
          const lines = credentialLines(accessKey, accessSecret, 'CODESIGN_VIEWER');
          await give(receiver, lines, "User name and password for the server's page");
        } catch (error) {
          await viewers.remove(accessKey); // its secret was not handed over
          throw error;
        }
        announce(accessKey);
      });
    });

  listCommand(viewer, 'list', 'lists access key, name, state and expiry').action(
    async (options: DataOptions & ListOptions) => {
      const viewers = await withStore(options, surroundings, (store) => store.viewers.list());
      const rows = viewers.map(({ accessKey, name = null, expiresAt = null }) => {
        return { accessKey, name, state: expiresAt === null || now() < expiresAt ? 'active' : 'expired', expiresAt };
      });
      const columns: Columns<(typeof rows)[number]> = {
        'ACCESS KEY': ({ accessKey }) => accessKey,
        NAME: ({ name }) => name ?? '',
        STATE: ({ state }) => state,
        EXPIRES: ({ expiresAt }) => expiresAt?.toISOString() ?? 'never',
      };
      printList(rows, columns, options, announce);
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

function credentialLines(accessKey: string, accessSecret: string, prefix = 'CODESIGN') {
  return [
    [`${prefix}_ACCESS_KEY`, accessKey],
    [`${prefix}_ACCESS_SECRET`, accessSecret],
  ] as const;
}

function stateOf({ disabled, expiresAt, handedOver }: Client, now: Date): string {
  if (disabled) return 'disabled';
  if (!handedOver) return 'not handed over';
  return expiresAt === undefined || now < expiresAt ? 'active' : 'expired';
}
