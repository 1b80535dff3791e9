import { CodesignError } from '../../errors/codesign-error.ts';
import { Secret } from '../../secrets/secret.ts';
import { settingsErrors } from '../errors.ts';
import type { Environment } from '../table.ts';
import { emptyVariables } from '../variables.ts';
import { readSecretFile } from './files.ts';
import {
  type Account,
  accountText,
  DEFAULT_ENVIRONMENT,
  type Keychain,
  readStoredCredentials,
  type StoredCredentials,
} from './keychain.ts';

export interface Credentials {
  readonly accessKey: string;
  readonly accessSecret: Secret;
  readonly source: 'environment' | 'file' | 'keychain';
  /** The only origin to which the credentials may be sent; undefined if they come from the environment. */
  readonly origin: string | undefined;
  readonly warnings: readonly string[];
}

export interface CredentialsQuery {
  readonly env: Environment;
  /** undefined if the credentials will not be sent. */
  readonly origin: string | undefined;
  readonly account: Account;
  readonly keychain: Keychain;
  /** Path of the file that `login --store file` writes. */
  readonly file: string;
}

const KEY = 'CODESIGN_ACCESS_KEY';
const SECRET = 'CODESIGN_ACCESS_SECRET';
const SECRET_FILE = 'CODESIGN_ACCESS_SECRET_FILE';
export const CREDENTIAL_VARIABLES = [KEY, SECRET, SECRET_FILE] as const;

/** RFC 7617, section 2, forbids control characters in the user name and the password. */
const CONTROL = /\p{Cc}/u;

/** Credentials in the environment take precedence over those that `login` has stored for one origin. */
export async function readCredentials(query: CredentialsQuery): Promise<Credentials> {
  if (hasCredentials(query.env)) return readEnvironment(query.env);
  try {
    return await readStored(query);
  } catch (thrown) {
    // In CI systems, a secret that is not available becomes an empty variable.
    const missing = emptyVariables(CREDENTIAL_VARIABLES, query.env);
    if (missing === '' || !isWithoutCredentials(thrown)) throw thrown;
    throw settingsErrors('credentials-missing', { missing }, { cause: thrown });
  }
}

export function hasCredentials(environment: Environment): boolean {
  return CREDENTIAL_VARIABLES.some((name) => environment[name]);
}

const WITHOUT_CREDENTIALS: ReadonlySet<string> = new Set([
  'credentials-missing',
  'credentials-other-origin',
  'keychain-unavailable',
  'keychain-locked',
  'keychain-denied',
] satisfies (keyof typeof settingsErrors.table)[]);

/** True if the error means that there are no credentials. False if there are credentials, but they are wrong. */
export function isWithoutCredentials(thrown: unknown): boolean {
  return thrown instanceof CodesignError && WITHOUT_CREDENTIALS.has(thrown.code);
}

async function readEnvironment(env: Environment): Promise<Credentials> {
  const accessKey = env[KEY] ?? '';
  const value = env[SECRET] ?? '';
  const path = env[SECRET_FILE] ?? '';
  const missing = [...(accessKey ? [] : [KEY]), ...(value || path ? [] : [SECRET])];
  if (missing.length > 0) {
    const words = emptyVariables(missing, env) || `${missing.join(' and ')} not set`;
    throw settingsErrors('credentials-missing', { missing: words });
  }
  if (value !== '' && path !== '') throw settingsErrors('credentials-ambiguous');
  checkAccessKey(accessKey, KEY);
  const { text, warnings } = path === '' ? { text: value, warnings: [] } : await readSecretFile(path, SECRET_FILE);
  const accessSecret = readAccessSecret(text, path === '' ? SECRET : SECRET_FILE);
  return { accessKey, accessSecret, source: 'environment', origin: undefined, warnings };
}

/** Does not open a keychain if the file has credentials: opening takes long if no keychain responds. */
async function readStored({ origin, account, keychain, file }: CredentialsQuery): Promise<Credentials> {
  const { readFileEntry } = await import('./credentials-file.ts');
  const inFile = await ownOrProduction(account, (wanted) => readFileEntry(file, wanted));
  const stored = inFile ?? (await ownOrProduction(account, (wanted) => readStoredCredentials(keychain, wanted)));
  const profile = accountText(account);
  if (stored === undefined) {
    const missing = `none in the environment, and none stored by login for profile ${profile}`;
    throw settingsErrors('credentials-missing', { missing });
  }
  if (origin !== undefined && stored.origin !== origin) {
    throw settingsErrors('credentials-other-origin', { profile, stored: stored.origin, origin });
  }
  return { ...stored, source: inFile === undefined ? 'keychain' : 'file', warnings: [] };
}

async function ownOrProduction(
  account: Account,
  read: (account: Account) => Promise<StoredCredentials | undefined>,
): Promise<StoredCredentials | undefined> {
  const own = await read(account);
  if (own !== undefined || account.environment === DEFAULT_ENVIRONMENT) return own;
  return read({ ...account, environment: DEFAULT_ENVIRONMENT });
}

/** Messages contain the `source`, never the access key, which may include the secret by mistake. */
export function checkAccessKey(accessKey: string, source: string): string {
  const invalid = (problem: string) => settingsErrors('access-key-invalid', { source, problem });
  if (accessKey === '') throw invalid('is empty');
  if (accessKey.includes(':')) throw invalid('contains a colon');
  if (CONTROL.test(accessKey)) throw invalid('contains a control character');
  return accessKey;
}

export function readAccessSecret(text: string, source: string): Secret {
  const invalid = (problem: string) => settingsErrors('access-secret-invalid', { source, problem });
  if (text === '') throw invalid('is empty');
  if (CONTROL.test(text)) throw invalid('contains a line break or a control character');
  return new Secret(text);
}
