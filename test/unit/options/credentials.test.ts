/** Where credentials are taken from, in which order, where they may go, and the files that a secret is not taken from. */

import { chownSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  type Credentials,
  type CredentialsQuery,
  readCredentials,
} from '../../../src/options/credentials/credentials.ts';
import type { Keychain } from '../../../src/options/credentials/keychain.ts';
import type { Environment } from '../../../src/options/table.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { folderForAll } from '../../support/set-up.ts';

const folder = folderForAll();
const ORIGIN = 'https://sign.example:8443';
const account = { profile: 'work', environment: 'production' };

const refuse = () => Promise.reject(new Error('the keychain was asked'));
const REFUSING: Keychain = { read: refuse, write: refuse, remove: refuse };

function read(env: Environment, more: Partial<CredentialsQuery> = {}): Promise<Credentials> {
  return readCredentials({ env, origin: ORIGIN, account, keychain: REFUSING, file: join(folder, 'none'), ...more });
}

const errorOf = (reading: Promise<unknown>): Promise<unknown> => reading.catch((thrown: unknown) => thrown);
const textOf = (value: unknown): string => inspect(value, { depth: 10, showHidden: true }) + JSON.stringify(value);

let files = 0;
function secretFile(content: string): string {
  files += 1;
  const path = join(folder, `secret-${files}`);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

const withFile = (path: string) => ({ CODESIGN_ACCESS_KEY: 'key', CODESIGN_ACCESS_SECRET_FILE: path });

test.each(['s3cret\n', '\uFEFFs3cret\r\n', 's3cret', ' s3cret '])(
  'the secret from a file that holds %j',
  async (content) => {
    const { accessSecret } = await read(withFile(secretFile(content)));
    expect(accessSecret.reveal()).toBe(content.replace(/[\uFEFF\r\n]/g, ''));
  },
);

test.each([
  ['credentials-missing', { CODESIGN_ACCESS_KEY: 'key' }],
  ['credentials-missing', { CODESIGN_ACCESS_SECRET: 'secret' }],
  ['credentials-ambiguous', { ...withFile('f'), CODESIGN_ACCESS_SECRET: 's3cret' }],
  ['access-key-invalid', { CODESIGN_ACCESS_KEY: 'key:s3cret', CODESIGN_ACCESS_SECRET: 's3cret' }],
  ['access-key-invalid', { CODESIGN_ACCESS_KEY: 'key\r\nX: y', CODESIGN_ACCESS_SECRET: 's3cret' }],
  ['access-secret-invalid', { CODESIGN_ACCESS_KEY: 'key', CODESIGN_ACCESS_SECRET: 's3cret\n' }],
  ['access-secret-invalid', withFile(secretFile(''))],
  ['access-secret-invalid', withFile(secretFile('s3cret\n\n'))],
  ['access-secret-invalid', withFile(secretFile('s3cret\nmore'))],
  ['secret-file-unreadable', withFile(secretFile('x'.repeat(65_537)))],
  ['secret-file-unreadable', withFile('/nowhere/at/all')],
  ['secret-file-unreadable', withFile(tmpdir())],
])('rejects with %s: %j', async (code, environment) => {
  const error = await errorOf(read(environment));
  expect(error).toMatchObject({ category: 'usage', code, hint: expect.any(String) });
  expect(textOf(error)).not.toContain('s3cret');
});

describe.skipIf(process.platform === 'win32')('the secret file', () => {
  test.each([
    [0o600, 0],
    [0o610, 0],
    [0o640, 1],
    [0o604, 1],
  ])('with the mode %o leads to %i warnings', async (mode, count) => {
    const path = secretFile('s3cret');
    await chmod(path, mode);
    expect((await read(withFile(path))).warnings).toEqual(Array(count).fill(expect.stringContaining(path)));
  });

  test.each([0o620, 0o602])('with the mode %o, which lets others write, is rejected', async (mode) => {
    const path = secretFile('s3cret');
    await chmod(path, mode);
    await expect(read(withFile(path))).rejects.toMatchObject({ code: 'secret-file-exposed' });
  });

  test.skipIf(process.getuid?.() !== 0)('of a user whom root works for is accepted', async () => {
    const path = secretFile('s3cret');
    chownSync(path, 12_345, 12_345);
    expect((await read(withFile(path))).accessSecret.reveal()).toBe('s3cret');
  });
});

describe('from the keychain', () => {
  const ENTRY = JSON.stringify({ origin: ORIGIN, accessKey: 'kept-key', accessSecret: 'kept-s3cret' });
  const keychainWith = (name: string, text = ENTRY): Keychain => ({
    ...REFUSING,
    read: async (asked) => (asked === name ? new Secret(text) : undefined),
  });

  test.each([{}, { CODESIGN_ACCESS_KEY: '', CODESIGN_ACCESS_SECRET: '', CODESIGN_ACCESS_SECRET_FILE: '' }])(
    'when the environment has none: %j',
    async (env) => {
      const credentials = await read(env, { keychain: keychainWith('work') });
      expect(credentials).toMatchObject({ accessKey: 'kept-key', source: 'keychain', origin: ORIGIN });
      expect(credentials.accessSecret.reveal()).toBe('kept-s3cret');
      expect(textOf(credentials)).not.toContain('s3cret');
    },
  );

  test('an environment has its own, or those of production if they are for its service', async () => {
    const alternate = { profile: 'work', environment: 'alternate' };
    const [own, ofProduction] = [keychainWith('work/alternate'), keychainWith('work')];
    for (const keychain of [own, ofProduction])
      await expect(read({}, { keychain, account: alternate })).resolves.toMatchObject({ accessKey: 'kept-key' });
    await expect(read({}, { keychain: own })).rejects.toMatchObject({ code: 'credentials-missing' });
    const elsewhere = read({}, { keychain: ofProduction, account: alternate, origin: 'https://other.example' });
    await expect(elsewhere).rejects.toMatchObject({ code: 'credentials-other-origin' });
  });

  test.each(['http://sign.example:8443', 'https://sign.example', 'https://other.example:8443'])(
    'they are not sent to %s',
    async (origin) => {
      const error = await errorOf(read({}, { keychain: keychainWith('work'), origin }));
      const message = expect.stringMatching(`${ORIGIN} .*${origin};`);
      expect(error).toMatchObject({ code: 'credentials-other-origin', category: 'usage', message });
      expect(textOf(error)).not.toContain('s3cret');
    },
  );

  test.each([
    ['no JSON', 's3cret'],
    ['an empty secret', '{"origin":"https://sign.example","accessKey":"s3cret","accessSecret":""}'],
    ['an entry bound to nothing', '{"origin":"","accessKey":"k","accessSecret":"s3cret"}'],
  ])('what is not an entry of ours is rejected: %s', async (_name, text) => {
    const error = await errorOf(read({}, { keychain: keychainWith('work', text) }));
    expect(error).toMatchObject({ code: 'keychain-entry-unusable', hint: expect.stringContaining('--profile work') });
    expect(textOf(error)).not.toContain('s3cret');
  });
});
