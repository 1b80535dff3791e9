/** The commands about clients and their quotas. */

import type { DataConfig } from '../config.ts';
import { serverError } from '../errors.ts';
import type { Client, Store } from '../records/store.ts';
import { chooseReceiver, give, newCredentials, newSecret } from '../setup/hand-over.ts';
import { type AdminSurroundings, withStore } from './surroundings.ts';
import { checked, printable, readAlgorithm, readQuota, readTime } from './values.ts';

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
    name: name && checked('--name', name, /^[^\p{Cc}]{1,64}$/u, 'a name of 1 to 64 characters'),
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
export async function clientList(config: DataConfig, { announce, now }: AdminSurroundings): Promise<void> {
  const clients = await withStore(config, (store) => store.clients.list());
  for (const client of clients) {
    const { accessKey, name = '', certificates, algorithms } = client;
    const allowed = [certificates?.join(',') ?? 'every certificate', algorithms?.join(',') ?? 'every algorithm'];
    announce([accessKey, printable(name), stateOf(client, now()), quotaOf(client), ...allowed].join('\t'));
  }
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
export async function quotaList(config: DataConfig, { announce, now }: AdminSurroundings): Promise<void> {
  const clients = await withStore(config, async (store) => {
    await store.quota.giveBackExpired(now());
    return await store.clients.list();
  });
  for (const { accessKey, name = '', signatures, reserved, quota } of clients) {
    const left = quota === undefined ? 'no bound' : Math.max(0, quota - signatures - reserved);
    announce([accessKey, printable(name), signatures, reserved, quota ?? 'none', left].join('\t'));
  }
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
  if (expiresAt === undefined) return 'active';
  return `${now < expiresAt ? 'active until' : 'expired'} ${expiresAt.toISOString()}`;
}

function quotaOf({ signatures, quota }: Client): string {
  return quota === undefined ? `${signatures} signatures` : `${signatures} of ${quota} signatures`;
}
