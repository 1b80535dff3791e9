/** Hands the first client's credentials over, once: to a new file, or to a person at a terminal. */

import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { access, constants, link, lstat, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { reasonOf, ServerError } from '../errors.ts';
import { syncFolder, underFileLock, writeFlushed } from '../files.ts';
import { digestOfSecret } from '../http/auth.ts';
import type { Client, Store } from '../records/store.ts';

export type Receiver =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'terminal'; readonly write: (text: string) => void };

/** Environment variables by name; one without a value is omitted. */
export type Variables = readonly (readonly [string, string | undefined])[];

/**
 * Chooses where the credentials are written, before anything is created: a start that cannot hand them over creates nothing.
 * @param dataRoot the folder that `--data` names; it may be missing still
 * @param terminal writes to a terminal; undefined without a terminal
 * @param option what names the file, for people
 * @throws `nobody-to-hand-credentials-to`, `client-env-exists`, `client-env-not-writable`
 */
export async function chooseReceiver(
  clientEnv: string | undefined,
  dataRoot: string,
  terminal: ((text: string) => void) | undefined,
  option = '--client-env',
): Promise<Receiver> {
  if (clientEnv === undefined) {
    if (terminal === undefined) throw new ServerError('nobody-to-hand-credentials-to', { option });
    return { kind: 'terminal', write: terminal };
  }
  const path = resolve(clientEnv);
  if (await exists(path)) throw new ServerError('client-env-exists', { path });
  try {
    if (dirname(path) === resolve(dataRoot)) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await access(dirname(path), constants.W_OK);
  } catch (error) {
    throw new ServerError('client-env-not-writable', { path, reason: reasonOf(error) }, error);
  }
  return { kind: 'file', path };
}

/**
 * Whether credentials are still to be handed over. An earlier start may have been killed between writing the file and
 * noting that: then the file holds the pending client's secret, and this notes it.
 */
export async function isHandOverDue(clients: Store['clients'], clientEnv: string | undefined): Promise<boolean> {
  const known = await clients.list();
  if (known.some((client) => client.handedOver)) return false;
  const pending = known.at(-1);
  if (pending === undefined || clientEnv === undefined || !(await holdsSecretOf(pending, clientEnv))) return true;
  await clients.markHandedOver(pending.id);
  return false;
}

/**
 * Makes credentials, stores a digest of the secret, and gives them away together with what else a client needs to know.
 * Of several starts that run concurrently one does that.
 * @param dataRoot the folder that `--data` names
 * @param service variables of a client's environment, besides the credentials
 * @returns false if another start was faster and did it
 * @throws `client-env-exists`, `client-env-not-writable`, `data-folder-unusable`
 */
export async function handOver(
  clients: Store['clients'],
  dataRoot: string,
  service: Variables,
  receiver: Receiver,
  now: Date,
): Promise<boolean> {
  return await underFileLock(join(dataRoot, '.codesign-remote-server-lock'), async () => {
    if ((await clients.list()).some((client) => client.handedOver)) return false;
    const { accessSecret, ...credentials } = newCredentials('AK');
    await clients.addPending(credentials, now);
    const own = [
      ['CODESIGN_ACCESS_KEY', credentials.accessKey],
      ['CODESIGN_ACCESS_SECRET', accessSecret],
    ] as const;
    await give(receiver, [...service, ...own]);
    await clients.markHandedOver(credentials.id);
    return true;
  });
}

/** Credentials of a client (AK) or a viewer of the page (VK): the access key shows which. */
export function newCredentials(kind: 'AK' | 'VK') {
  const accessKey = `${kind}${randomBytes(10).toString('hex').toUpperCase()}`;
  return { id: randomUUID(), accessKey, ...newSecret() };
}

/** 256 random bits, and what is stored of them. */
export function newSecret() {
  const accessSecret = randomBytes(32).toString('base64url');
  return { accessSecret, secretDigest: digestOfSecret(Buffer.from(accessSecret)) };
}

/** Gives variables away as lines for `set -a; . FILE`. @throws `client-env-exists`, `client-env-not-writable` */
export async function give(
  receiver: Receiver,
  variables: Variables,
  title = "The client's environment",
): Promise<void> {
  const text = variables
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${quoted(value)}\n`]))
    .join('');
  if (receiver.kind === 'file') await writeNewFile(receiver.path, text);
  else receiver.write(`${title}, shown this one time:\n\n${text}\n`);
}

/** As a shell reads it back. */
export function quoted(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

/** The file appears whole or not at all, and never in the place of another. */
async function writeNewFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFlushed(temporary, text, 'wx');
    await link(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    if (await exists(path)) throw new ServerError('client-env-exists', { path }, error);
    throw new ServerError('client-env-not-writable', { path, reason: reasonOf(error) }, error);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function holdsSecretOf(client: Client, clientEnv: string): Promise<boolean> {
  const text = await readFile(clientEnv, 'utf8').catch(() => ''); // no such file: then it holds nothing
  const secret = /^CODESIGN_ACCESS_SECRET='([^']*)'$/m.exec(text)?.[1];
  return secret !== undefined && timingSafeEqual(digestOfSecret(Buffer.from(secret)), client.secretDigest);
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
