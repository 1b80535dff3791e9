/** The credentials from the environment, and the files that a secret is not taken from. */

import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCredentials } from '../../src/settings/credentials.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-credentials-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let files = 0;
async function secretFile(content: string | Uint8Array, mode = 0o600): Promise<string> {
  files += 1;
  const path = join(folder, `secret-${files}`);
  await writeFile(path, content);
  await chmod(path, mode);
  return path;
}

const withFile = (path: string) => ({ CODESIGN_ACCESS_KEY: 'key', CODESIGN_ACCESS_SECRET_FILE: path });

test('key and secret from variables', async () => {
  const credentials = await readCredentials({
    CODESIGN_ACCESS_KEY: 'key',
    CODESIGN_ACCESS_SECRET: 's3cret: with colon',
  });
  expect(credentials.accessKey).toBe('key');
  expect(credentials.accessSecret.reveal()).toBe('s3cret: with colon');
  expect(credentials.warnings).toEqual([]);
  expect(inspect(credentials, { depth: 10, showHidden: true }) + JSON.stringify(credentials)).not.toContain('s3cret');
});

test.each([
  ['s3cret\n', 's3cret'],
  ['s3cret\r\n', 's3cret'],
  ['s3cret', 's3cret'],
  [' s3cret ', ' s3cret '],
])('the secret from a file that holds %j', async (content, secret) => {
  const credentials = await readCredentials(withFile(await secretFile(content)));
  expect(credentials.accessSecret.reveal()).toBe(secret);
  expect(credentials.warnings).toEqual([]);
});

describe('refuses', () => {
  test.each([
    ['credentials-missing', {}],
    ['credentials-missing', { CODESIGN_ACCESS_KEY: 'key' }],
    ['credentials-missing', { CODESIGN_ACCESS_SECRET: 'secret' }],
    ['credentials-missing', { CODESIGN_ACCESS_KEY: '', CODESIGN_ACCESS_SECRET: '', CODESIGN_ACCESS_SECRET_FILE: '' }],
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
    ['an empty file', ''],
    ['a file of a newline', '\n'],
    ['two newlines at the end', 's3cret\n\n'],
    ['two lines', 's3cret\nmore'],
    ['bytes of no meaning', Uint8Array.of(1, 2, 3)],
  ])('%s', async (_name, content) => {
    const path = await secretFile(content);
    await expect(readCredentials(withFile(path))).rejects.toMatchObject({ code: 'access-secret-invalid' });
  });

  test('a file too large for a secret', async () => {
    const path = await secretFile('x'.repeat(70_000));
    await expect(readCredentials(withFile(path))).rejects.toMatchObject({ code: 'secret-file-unreadable' });
  });
});

test('what is missing is named', async () => {
  await expect(readCredentials({ CODESIGN_ACCESS_KEY: 'key' })).rejects.toMatchObject({
    message: expect.stringMatching(/: CODESIGN_ACCESS_SECRET /),
    hint: expect.stringMatching(/CODESIGN_ACCESS_KEY.*CODESIGN_ACCESS_SECRET.*CODESIGN_ACCESS_SECRET_FILE/),
  });
});

describe.skipIf(process.platform === 'win32')('the permissions of the secret file', () => {
  test.each([[0o600], [0o400], [0o700], [0o610]])('%o is private', async (mode) => {
    const { warnings } = await readCredentials(withFile(await secretFile('s3cret', mode)));
    expect(warnings).toEqual([]);
  });

  test.each([[0o644], [0o640], [0o604]])('%o may be read by others: a warning', async (mode) => {
    const path = await secretFile('s3cret', mode);
    const { warnings } = await readCredentials(withFile(path));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(path);
  });

  test.each([[0o666], [0o622], [0o660], [0o602]])('%o may be written by others: refused', async (mode) => {
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
