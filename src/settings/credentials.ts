/** The credentials for the service from the environment: access key, and access secret as a value or in a file. */

import { Secret } from '../secrets/secret.ts';
import { settingsErrors } from './errors.ts';
import type { Environment } from './options.ts';
import { readSecretFile } from './secret-file.ts';

export interface Credentials {
  readonly accessKey: string;
  readonly accessSecret: Secret;
  /** Whole sentences. */
  readonly warnings: readonly string[];
}

const KEY = 'CODESIGN_ACCESS_KEY';
const SECRET = 'CODESIGN_ACCESS_SECRET';
const SECRET_FILE = 'CODESIGN_ACCESS_SECRET_FILE';

/** RFC 7617, section 2: neither user name nor password may hold control characters. */
const CONTROL = /\p{Cc}/u;

/**
 * Reads CODESIGN_ACCESS_KEY with CODESIGN_ACCESS_SECRET or CODESIGN_ACCESS_SECRET_FILE. An empty variable counts as
 * absent. Throws `credentials-missing`, `credentials-ambiguous`, `access-key-invalid`, `access-secret-invalid`, or what
 * `readSecretFile` throws.
 */
export async function readCredentials(environment: Environment): Promise<Credentials> {
  const accessKey = environment[KEY] ?? '';
  const value = environment[SECRET] ?? '';
  const path = environment[SECRET_FILE] ?? '';
  const missing = [...(accessKey ? [] : [KEY]), ...(value || path ? [] : [SECRET])];
  if (missing.length > 0) throw settingsErrors('credentials-missing', { missing: missing.join(' and ') });
  if (value !== '' && path !== '') throw settingsErrors('credentials-ambiguous');
  checkAccessKey(accessKey);
  const { text, warnings } = path === '' ? { text: value, warnings: [] } : await readSecretFile(path, SECRET_FILE);
  checkAccessSecret(text, path === '' ? SECRET : SECRET_FILE);
  return { accessKey, accessSecret: new Secret(text), warnings };
}

/** Whether any of the variables is set. */
export function hasCredentials(environment: Environment): boolean {
  return [KEY, SECRET, SECRET_FILE].some((name) => environment[name]);
}

function checkAccessKey(accessKey: string): void {
  if (accessKey.includes(':')) throw settingsErrors('access-key-invalid', { problem: 'has a colon in it' });
  if (CONTROL.test(accessKey)) throw settingsErrors('access-key-invalid', { problem: 'has a control character in it' });
}

function checkAccessSecret(text: string, source: string): void {
  if (text === '') throw settingsErrors('access-secret-invalid', { source, problem: 'is empty' });
  if (CONTROL.test(text)) {
    throw settingsErrors('access-secret-invalid', { source, problem: 'has a line break or control character in it' });
  }
}
