import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, test } from 'vitest';
import { readEnvironmentFile } from '../../../test/support/services/server.ts';
import { copyData } from '../../../test/support/services/server-data.ts';
import { folderForEach } from '../../../test/support/set-up.ts';
import { SERVER_ERRORS } from '../../src/errors.ts';
import { adminCommand } from '../support/commands.ts';

const folder = folderForEach();
const data = () => folder.at('data');
const clientEnv = () => folder.at('client.env');

/** Runs `start` in this process until it listens or fails. */
const start = (...args: readonly string[]) => adminCommand(['start', '--data', data(), '--port', '0', ...args]);
const startWithFile = () => start('--client-env', clientEnv());
const clients = async (): Promise<readonly { readonly accessKey: string }[]> =>
  JSON.parse((await adminCommand(['client', 'list', '--json', '--data', data()])).output);

test('creates nothing, and says what to do, if the credentials cannot be shown', async () => {
  expect(await start()).toMatchObject({ code: 2, output: '', errors: expect.stringContaining('--client-env') });
  const inMissingFolder = folder.at('missing', 'client.env');
  expect(await start('--client-env', inMissingFolder)).toMatchObject({ code: 2, output: '' });
  await writeFile(clientEnv(), 'precious');
  expect(await startWithFile()).toMatchObject({ code: 2, errors: expect.stringContaining(clientEnv()) });
  expect(await readFile(clientEnv(), 'utf8')).toBe('precious');
  expect(existsSync(data())).toBe(false);
});

test('a first start that fails leaves nothing in the data folder but what was there', async () => {
  await writeFile(folder.at('file'), '');
  const blocked = await start('--client-env', join(data(), 'client.env'), '--pkcs11-library', folder.at('file'));
  expect(blocked.code).toBe(2); // the file is not a library: its check passes, and nothing is created
  expect(await readdir(data())).toEqual([]);
  expect((await stat(data())).mode & 0o777).toBe(0o700);
  await writeFile(join(data(), 'mine'), 'precious');
  expect((await start('--client-env', clientEnv(), '--pkcs11-library', folder.at('file'))).code).toBe(2);
  expect(await readdir(data())).toEqual(['mine']);
});

test('later starts leave the environment file alone, need none, and keep the same credentials', async () => {
  await copyData(data(), 2048);
  await startWithFile();
  const before = await readFile(clientEnv(), 'utf8');
  expect((await startWithFile()).code).toBe(0);
  expect((await start('--client-env', folder.at('another.env'))).code).toBe(0);
  const { code, output } = await start();
  expect(code).toBe(0);
  expect(await readFile(clientEnv(), 'utf8')).toBe(before);
  expect((await readdir(folder.path)).sort()).toEqual(['client.env', 'data']);
  expect(await clients()).toHaveLength(1);
  const added = folder.at('added.env');
  const result = await adminCommand(['client', 'add', '--data', data(), '--client-env', added]);
  expect(result).toMatchObject({ code: 0, errors: '' });
  expect(output).toBe(`listening on ${(await readEnvironmentFile(added)).CODESIGN_BASE_URL}\n`);
});

test('a start killed after it wrote the credentials, before it added the client, leaves a file that the next one names', async () => {
  await copyData(data(), 2048);
  await startWithFile();
  const file = new Database(join(data(), 'service', 'database.sqlite'));
  file.exec('DELETE FROM clients');
  file.close();
  expect(await startWithFile()).toMatchObject({ code: 2, errors: expect.stringContaining(clientEnv()) });
  await rm(clientEnv());
  expect((await startWithFile()).code).toBe(0);
  const { CODESIGN_ACCESS_KEY: accessKey } = await readEnvironmentFile(clientEnv());
  expect(await clients()).toMatchObject([{ accessKey }]);
});

test.each([
  ['database.sqlite', 'database-not-named', '--database'],
  ['pin', 'token-not-named', '--pkcs11-token'],
  ['tls/ca.pem', 'data-folder-incomplete', 'backup'],
  ['tokens', 'data-folder-incomplete', 'service/tokens'],
] as const)('rejects data without %s as %s, and makes nothing in its place', async (name, expected, words) => {
  await copyData(data(), 2048);
  const path = join(data(), 'service', name);
  await rm(path, { recursive: true });
  const { code, errors } = await startWithFile();
  expect(code).toBe(6);
  expect(errors).toContain(SERVER_ERRORS[expected].hint);
  expect(errors).toContain(words);
  expect([existsSync(path), existsSync(clientEnv())]).toEqual([false, false]);
});

test('an existing part that cannot be read is not reported as missing', async () => {
  await copyData(data(), 2048);
  const pin = join(data(), 'service', 'pin');
  await rm(pin);
  await mkdir(pin);
  const { code, errors } = await startWithFile();
  expect(code).toBe(6);
  expect(errors).toContain(pin);
  expect(errors).not.toContain('backup');
  await rm(data(), { recursive: true });
  await writeFile(data(), 'a file');
  const unusable = expect.stringContaining(SERVER_ERRORS['data-folder-unusable'].hint);
  expect(await startWithFile()).toMatchObject({ code: 6, errors: unusable });
});
