import { randomBytes, randomUUID } from 'node:crypto';
import { access, constants, link, lstat, mkdir, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ServerError } from '../errors.ts';
import { syncFolder, writeFlushed } from '../files.ts';
import { digestOfSecret } from '../http/auth.ts';

export type Receiver =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'terminal'; readonly write: (text: string) => void };

/** Environment variable of a client. Alternatives are commented out. */
export interface Variable {
  readonly name: string;
  readonly value: string;
  readonly commented?: boolean;
}

/**
 * Chooses where credentials are shown. A command that cannot show credentials must create nothing.
 * @param dataRoot the folder of `--data`; it may not exist yet
 * @param option name of the option that sets the file, for error messages
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
    throw new ServerError('client-env-not-writable', { path }, error);
  }
  return { kind: 'file', path };
}

/** Creates credentials of a client (AK) or of a viewer of the page (VK). The access key starts with these letters. */
export function newCredentials(kind: 'AK' | 'VK') {
  const accessKey = `${kind}${randomBytes(10).toString('hex').toUpperCase()}`;
  return { id: randomUUID(), accessKey, ...newSecret() };
}

export function newSecret() {
  const accessSecret = randomBytes(32).toString('base64url');
  return { accessSecret, secretDigest: digestOfSecret(Buffer.from(accessSecret)) };
}

export function credentialVariables(accessKey: string, accessSecret: string, prefix = 'CODESIGN'): readonly Variable[] {
  return [
    { name: `${prefix}_ACCESS_KEY`, value: accessKey },
    { name: `${prefix}_ACCESS_SECRET`, value: accessSecret },
  ];
}

/** Shows environment variables as lines for `set -a; . FILE`. The secret becomes valid only after it was shown. */
export async function give(
  receiver: Receiver,
  variables: readonly Variable[],
  makeValid: () => Promise<unknown>,
  title = "The client's environment",
): Promise<void> {
  const lines = variables.map(({ name, value, commented }) => {
    const mark = commented ? '# ' : '';
    return `${mark}${name}=${quoted(value)}\n`;
  });
  if (receiver.kind === 'file') await writeNewFile(receiver.path, lines.join(''));
  else receiver.write(`${title}, shown only once:\n\n${lines.join('')}\n`);
  try {
    await makeValid();
  } catch (error) {
    if (receiver.kind === 'file') await rm(receiver.path, { force: true });
    throw error;
  }
}

export function quoted(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

/** Creates the file atomically, and never replaces an existing one. */
async function writeNewFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFlushed(temporary, text);
    await link(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    if (await exists(path)) throw new ServerError('client-env-exists', { path }, error);
    throw new ServerError('client-env-not-writable', { path }, error);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
