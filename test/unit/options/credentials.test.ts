/** Where credentials are taken from, in which order, where they may go, and the files that a secret is not taken from. */

import { chmod, chown, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  type Credentials,
  type CredentialsQuery,
  readCredentials as readFrom,
} from '../../../src/options/credentials/credentials.ts';
import { type Keychain, storeCredentials } from '../../../src/options/credentials/keychain.ts';
import type { Environment } from '../../../src/options/table.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { folderForAll } from '../../support/set-up.ts';

const folder = folderForAll();

const account = { profile: 'work', environment: 'production' };

/** Those of the environment, with a keychain that must not be asked. */
function readCredentials(env: Environment): Promise<Credentials> {
  const refuse = () => Promise.reject(new Error('the keychain was asked'));
  const keychain: Keychain = { read: refuse, write: refuse, remove: refuse };
  return readFrom({ env, origin: 'https://sign.example', account, keychain, file: join(folder, 'none') });
}

/** A keychain of this process's own. */
function keychainOf(entries: Readonly<Record<string, string>> = {}): Keychain {
  const kept = new Map(Object.entries(entries));
  return {
    async read(name) {
      const value = kept.get(name);
      return value === undefined ? undefined : new Secret(value);
    },
    async write(name, value) {
      kept.set(name, value.reveal());
    },
    remove: async (name) => kept.delete(name),
  };
}

let files = 0;
async function secretFile(content: string, mode = 0o600): Promise<string> {
  files += 1;
  const path = join(folder, `secret-${files}`);
  await writeFile(path, content);
  await chmod(path, mode);
  return path;
}

const withFile = (path: string) => ({ CODESIGN_ACCESS_KEY: 'key', CODESIGN_ACCESS_SECRET_FILE: path });

test('key and secret from variables', async () => {
  const env = { CODESIGN_ACCESS_KEY: 'key', CODESIGN_ACCESS_SECRET: 's3cret: with colon' };
  const credentials = await readCredentials(env);
  expect(credentials).toMatchObject({ accessKey: 'key', warnings: [] });
  expect(credentials.accessSecret.reveal()).toBe('s3cret: with colon');
  expect(inspect(credentials, { depth: 10, showHidden: true }) + JSON.stringify(credentials)).not.toContain('s3cret');
});

test.each(['s3cret\n', 's3cret\r\n', 's3cret', ' s3cret '])('the secret from a file that holds %j', async (content) => {
  const { accessSecret } = await readCredentials(withFile(await secretFile(content)));
  expect(accessSecret.reveal()).toBe(content.replace(/[\r\n]/g, ''));
});

describe('rejects', () => {
  test.each([
    ['credentials-missing', { CODESIGN_ACCESS_KEY: 'key' }],
    ['credentials-missing', { CODESIGN_ACCESS_SECRET: 'secret' }],
    [
      'credentials-ambiguous',
      { CODESIGN_ACCESS_KEY: 'k', CODESIGN_ACCESS_SECRET: 's', CODESIGN_ACCESS_SECRET_FILE: 'f' },
    ],
    ['access-key-invalid', { CODESIGN_ACCESS_KEY: 'key:s3cret', CODESIGN_ACCESS_SECRET: 's3cret' }],
    ['access-key-invalid', { CODESIGN_ACCESS_KEY: 'key\r\nX: y', CODESIGN_ACCESS_SECRET: 's3cret' }],
    ['access-secret-invalid', { CODESIGN_ACCESS_KEY: 'key', CODESIGN_ACCESS_SECRET: 's3cret\n' }],
    ['secret-file-unreadable', { CODESIGN_ACCESS_KEY: 'key', CODESIGN_ACCESS_SECRET_FILE: '/nowhere/at/all' }],
    ['secret-file-unreadable', { CODESIGN_ACCESS_KEY: 'key', CODESIGN_ACCESS_SECRET_FILE: tmpdir() }],
  ])('%s: %j', async (code, environment) => {
    const error = await readCredentials(environment).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ category: 'usage', code, hint: expect.any(String) });
    expect(inspect(error, { depth: 10 })).not.toContain('s3cret');
  });

  test.each([
    ['access-secret-invalid', ''],
    ['access-secret-invalid', '\n'],
    ['access-secret-invalid', 's3cret\n\n'],
    ['access-secret-invalid', 's3cret\nmore'],
    ['secret-file-unreadable', 'x'.repeat(65_537)],
  ])('%s: the file %j', async (code, content) => {
    await expect(readCredentials(withFile(await secretFile(content)))).rejects.toMatchObject({ code });
  });
});

describe.skipIf(process.platform === 'win32')('the permissions of the secret file', () => {
  test.each([0o600, 0o400, 0o610])('%o is private', async (mode) => {
    const { warnings } = await readCredentials(withFile(await secretFile('s3cret', mode)));
    expect(warnings).toEqual([]);
  });

  test.each([0o640, 0o604])('%o may be read by others: a warning', async (mode) => {
    const path = await secretFile('s3cret', mode);
    const { warnings } = await readCredentials(withFile(path));
    expect(warnings).toEqual([expect.stringContaining(path)]);
  });

  test.each([0o620, 0o602])('%o may be written by others: rejected', async (mode) => {
    const path = await secretFile('s3cret', mode);
    await expect(readCredentials(withFile(path))).rejects.toMatchObject({ code: 'secret-file-exposed' });
  });

  test.skipIf(process.getuid?.() !== 0)('root takes the file of a user it works for', async () => {
    const path = await secretFile('s3cret');
    await chown(path, 12_345, 12_345);
    const { accessSecret } = await readCredentials(withFile(path));
    expect(accessSecret.reveal()).toBe('s3cret');
  });
});

describe('from the keychain', () => {
  const accessSecret = new Secret('kept-s3cret');
  const stored = { origin: 'https://sign.example:8443', accessKey: 'kept-key', accessSecret };
  const EMPTY = { CODESIGN_ACCESS_KEY: '', CODESIGN_ACCESS_SECRET: '', CODESIGN_ACCESS_SECRET_FILE: '' };

  async function keychainWith(profile: string, environment = 'production'): Promise<Keychain> {
    const keychain = keychainOf();
    await storeCredentials(keychain, { profile, environment }, stored);
    return keychain;
  }

  const readFromKeychain = (keychain: Keychain, more: Partial<CredentialsQuery> = {}) =>
    readFrom({ env: {}, origin: stored.origin, account, keychain, file: join(folder, 'none'), ...more });

  test.each([[{}], [EMPTY]])('when the environment has none: %j', async (env) => {
    const credentials = await readFromKeychain(await keychainWith('work'), { env });
    expect(credentials).toMatchObject({ accessKey: 'kept-key', source: 'keychain', origin: stored.origin });
    expect(credentials.accessSecret.reveal()).toBe('kept-s3cret');
    expect(inspect(credentials, { depth: 10, showHidden: true }) + JSON.stringify(credentials)).not.toContain('s3cret');
  });

  test('an environment has its own, or those of production if they are for its service', async () => {
    const alternate = { account: { profile: 'work', environment: 'alternate' } };
    const own = await keychainWith('work', 'alternate');
    await expect(readFromKeychain(own, alternate)).resolves.toMatchObject({ accessKey: 'kept-key' });
    await expect(readFromKeychain(own)).rejects.toMatchObject({ code: 'credentials-missing' });
    const keychain = await keychainWith('work');
    await expect(readFromKeychain(keychain, alternate)).resolves.toMatchObject({ accessKey: 'kept-key' });
    const elsewhere = readFromKeychain(keychain, { ...alternate, origin: 'https://other.example' });
    await expect(elsewhere).rejects.toMatchObject({ code: 'credentials-other-origin' });
  });

  test.each(['http://sign.example:8443', 'https://sign.example', 'https://other.example:8443'])(
    'they are not sent to %s',
    async (origin) => {
      const reading = readFromKeychain(await keychainWith('work'), { origin });
      const error = await reading.catch((thrown: unknown) => thrown);
      const message = expect.stringMatching(`${stored.origin} .*${origin};`);
      expect(error).toMatchObject({ code: 'credentials-other-origin', category: 'usage', message });
      expect(inspect(error, { depth: 10 })).not.toContain('s3cret');
    },
  );

  test.each([
    ['no JSON', 's3cret'],
    ['half of an entry', '{"origin":"https://sign.example","accessKey":"s3cret"}'],
    ['an empty secret', '{"origin":"https://sign.example","accessKey":"s3cret","accessSecret":""}'],
    ['an entry bound to nothing', '{"origin":"","accessKey":"k","accessSecret":"s3cret"}'],
  ])('what is not an entry of ours is rejected: %s', async (_name, text) => {
    const error = await readFromKeychain(keychainOf({ work: text })).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'keychain-entry-unusable', hint: expect.stringContaining('--profile work') });
    expect(inspect(error, { depth: 10 })).not.toContain('s3cret');
  });
});
