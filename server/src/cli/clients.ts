/** The commands about clients and their quotas. */

import { serverError } from '../errors.ts';
import type { Client, Store } from '../records/store.ts';
import { chooseReceiver, give, newCredentials, newSecret } from '../setup/hand-over.ts';
import type { DataConfig } from './config.ts';
import { type Columns, type ListOptions, printList } from './list.ts';
import { type AdminSurroundings, withStore } from './surroundings.ts';
import { readAlgorithm, readName, readQuota, readTime } from './values.ts';

export interface ClientAddOptions {
  readonly name?: string;
  readonly certificate?: readonly string[];
  readonly algorithm?: readonly string[];
  readonly quota?: string;
  readonly expires?: string;
  readonly clientEnv?: string;
}

/** `client add`: shows the secret this one time. @throws ServerError */
export async function clientAdd(
  config: DataConfig,
  options: ClientAddOptions,
  { terminal, now, announce }: AdminSurroundings,
): Promise<void> {
  const { name, expires, certificate: certificates } = options;
  const restrictions = {
    name: name && readName('--name', name),
    certificates,
    algorithms: options.algorithm?.map(readAlgorithm),
    quota: readQuota('--quota', options.quota ?? 'none'),
    expiresAt: expires === undefined ? undefined : readTime('--expires', expires),
  };
  const receiver = await chooseReceiver(options.clientEnv, config.dataRoot, terminal);
  await withStore(config, async (store) => {
    for (const number of certificates ?? []) await requireCertificate(store, number);
    const { accessSecret, ...client } = newCredentials();
    await store.clients.add({ ...restrictions, ...client, name: restrictions.name }, now());
    try {
      await give(receiver, credentialLines(client.accessKey, accessSecret));
    } catch (error) {
      await store.clients.change(client.accessKey, { disabled: true }); // nobody has its secret
      throw error;
    }
    announce(client.accessKey);
  });
}

/** `client list`. */
export async function clientList(
  config: DataConfig,
  options: ListOptions,
  { announce, now }: AdminSurroundings,
): Promise<void> {
  const clients = await withStore(config, (store) => store.clients.list());
  const rows = clients.map((client) => {
    const { accessKey, name = null, signatures, quota = null } = client;
    const { certificates = null, algorithms = null, expiresAt = null } = client;
    return { accessKey, name, state: stateOf(client, now()), signatures, quota, expiresAt, certificates, algorithms };
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
}

export interface ClientChangeOptions {
  readonly name?: string;
  readonly certificate?: readonly string[];
  readonly allCertificates?: boolean;
  readonly algorithm?: readonly string[];
  readonly allAlgorithms?: boolean;
  readonly expires?: string;
}

/** `client change`: what is not given stays; known at the next call. @throws ServerError */
export async function clientChange(config: DataConfig, accessKey: string, options: ClientChangeOptions): Promise<void> {
  const { name, certificate, allCertificates, algorithm, allAlgorithms, expires } = options;
  const what: Parameters<Store['clients']['change']>[1] = {
    ...(name !== undefined && { name: name === '' ? undefined : readName('--name', name) }),
    ...((certificate ?? allCertificates) && { certificates: certificate }),
    ...((algorithm ?? allAlgorithms) && { algorithms: algorithm?.map(readAlgorithm) }),
    ...(expires !== undefined && { expiresAt: expires === 'none' ? undefined : readTime('--expires', expires) }),
  };
  if (Object.keys(what).length === 0) throw serverError('nothing-to-change', { accessKey });
  await withStore(config, async (store) => {
    for (const number of certificate ?? []) await requireCertificate(store, number);
    if (!(await store.clients.change(accessKey, what))) throw serverError('client-not-found', { accessKey });
  });
}

/** `client disable` and `client enable`: known at the next call. @throws `client-not-found` */
export async function clientSwitch(config: DataConfig, accessKey: string, disabled: boolean): Promise<void> {
  await change(config, accessKey, { disabled });
}

/** `client rotate`: another secret in the place of the one before, which is refused from then on. @throws ServerError */
export async function clientRotate(
  config: DataConfig,
  accessKey: string,
  { clientEnv }: Pick<ClientAddOptions, 'clientEnv'>,
  { terminal }: AdminSurroundings,
): Promise<void> {
  const receiver = await chooseReceiver(clientEnv, config.dataRoot, terminal);
  const { accessSecret, secretDigest } = newSecret();
  await withStore(config, async ({ clients }) => {
    if ((await clients.findByAccessKey(accessKey)) === undefined) throw serverError('client-not-found', { accessKey });
    await give(receiver, credentialLines(accessKey, accessSecret)); // first: the secret before stays good until it is there
    await clients.change(accessKey, { secretDigest });
  });
}

/** `quota`. */
export async function quotaList(
  config: DataConfig,
  options: ListOptions,
  { announce, now }: AdminSurroundings,
): Promise<void> {
  const clients = await withStore(config, async (store) => {
    await store.quota.giveBackExpired(now());
    return await store.clients.list();
  });
  const rows = clients.map(({ accessKey, name = null, signatures, reserved, quota = null }) => {
    const left = quota === null ? null : Math.max(0, quota - signatures - reserved);
    return { accessKey, name, signatures, reserved, quota, left };
  });
  const columns: Columns<(typeof rows)[number]> = {
    'ACCESS KEY': ({ accessKey }) => accessKey,
    NAME: ({ name }) => name ?? '',
    SIGNATURES: ({ signatures }) => signatures,
    'UNDER WAY': ({ reserved }) => reserved,
    QUOTA: ({ quota }) => quota ?? 'none',
    LEFT: ({ left }) => left ?? 'unlimited',
  };
  printList(rows, columns, options, announce);
}

/** `quota set`. @throws `client-not-found`, `invalid-option` */
export async function quotaSet(config: DataConfig, accessKey: string, quota: string): Promise<void> {
  await change(config, accessKey, { quota: readQuota('the quota', quota) });
}

async function change(
  config: DataConfig,
  accessKey: string,
  what: Parameters<Store['clients']['change']>[1],
): Promise<void> {
  const known = await withStore(config, (store) => store.clients.change(accessKey, what));
  if (!known) throw serverError('client-not-found', { accessKey });
}

async function requireCertificate(store: Store, number: string): Promise<void> {
  if ((await store.certificates.find(number)) === undefined) throw serverError('certificate-not-found', { number });
}

function credentialLines(accessKey: string, accessSecret: string): readonly (readonly [string, string])[] {
  return [
    ['CODESIGN_ACCESS_KEY', accessKey],
    ['CODESIGN_ACCESS_SECRET', accessSecret],
  ];
}

function stateOf({ disabled, expiresAt, handedOver }: Client, now: Date): string {
  if (disabled) return 'disabled';
  if (!handedOver) return 'not handed over';
  return expiresAt === undefined || now < expiresAt ? 'active' : 'expired';
}
