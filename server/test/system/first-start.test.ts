import { access, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { beforeEach, expect, test } from 'vitest';
import { readEnvironmentFile } from '../../../test/support/services/server.ts';
import { copyData } from '../../../test/support/services/server-data.ts';
import { folderForEach } from '../../../test/support/set-up.ts';
import { SERVER_ERRORS } from '../../src/errors.ts';
import { prepareTables } from '../../src/records/migrations.ts';
import { openSqliteStore } from '../../src/records/sqlite.ts';
import { adminCommand } from '../support/commands.ts';

const folder = folderForEach();
let data: string;
let clientEnv: string;
beforeEach(async () => {
  data = folder.at('data');
  clientEnv = folder.at('client.env');
});

/** Runs `start` in this process until it listens or fails. */
const start = (...args: readonly string[]) => adminCommand(['start', '--data', data, '--port', '0', ...args]);

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

async function withStore<T>(work: (store: Awaited<ReturnType<typeof openSqliteStore>>) => Promise<T>): Promise<T> {
  const store = await openSqliteStore(join(data, 'service', 'database.sqlite'), prepareTables('use'));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

test('creates nothing, and says what to do, if the credentials cannot be shown', async () => {
  const { code, output, errors } = await start();
  expect({ code, output }).toEqual({ code: 2, output: '' });
  expect(errors).toContain('--client-env');
  expect(await exists(data)).toBe(false);
});

test('rejects an environment file that exists, before anything is made', async () => {
  await writeFile(clientEnv, 'precious');
  const { code, errors } = await start('--client-env', clientEnv);
  expect(code).toBe(2);
  expect(errors).toContain(clientEnv);
  expect(await readFile(clientEnv, 'utf8')).toBe('precious');
  expect(await exists(join(data, 'service'))).toBe(false);
});

test('rejects an environment file in a missing folder', async () => {
  expect(await start('--client-env', folder.at('missing', 'client.env'))).toMatchObject({ code: 2, output: '' });
  expect(await exists(data)).toBe(false);
});

test('puts the environment file into the data folder even before that exists', async () => {
  const inside = join(data, 'client.env');
  await writeFile(folder.at('file'), '');
  const blocked = await start('--client-env', inside, '--pkcs11-library', folder.at('file'));
  expect(blocked.code).toBe(2); // the file is not a library: its check passes, and nothing is created
  expect(await readdir(data)).toEqual([]);
  expect(await modeOf(data)).toBe('700');
});

test('later starts leave the environment file alone, need none, and keep the same credentials', async () => {
  await copyData(data, 2048);
  await start('--client-env', clientEnv);
  const before = await readFile(clientEnv, 'utf8');
  expect((await start('--client-env', clientEnv)).code).toBe(0);
  expect((await start()).code).toBe(0);
  expect((await start('--client-env', folder.at('another.env'))).code).toBe(0);
  expect(await readFile(clientEnv, 'utf8')).toBe(before);
  expect((await readdir(folder.path)).sort()).toEqual(['client.env', 'data']);
  expect(await withStore((store) => store.clients.list())).toHaveLength(1);

  const { output } = await start();
  const added = folder.at('added.env');
  expect(await adminCommand(['client', 'add', '--data', data, '--client-env', added])).toMatchObject({
    code: 0,
    errors: '',
  });
  expect(output).toBe(`listening on ${(await readEnvironmentFile(added)).CODESIGN_BASE_URL}\n`);
});

test('a start killed after it wrote the credentials, before it added the client, leaves a file that the next one names', async () => {
  await copyData(data, 2048);
  await start('--client-env', clientEnv);
  const file = new Database(join(data, 'service', 'database.sqlite'));
  file.exec('DELETE FROM clients');
  file.close();
  const { code, errors } = await start('--client-env', clientEnv);
  expect(code).toBe(2);
  expect(errors).toContain(clientEnv);
  await rm(clientEnv);
  expect((await start('--client-env', clientEnv)).code).toBe(0);
  const { CODESIGN_ACCESS_KEY } = await readEnvironmentFile(clientEnv);
  expect((await withStore((store) => store.clients.list())).map(({ accessKey }) => accessKey)).toEqual([
    CODESIGN_ACCESS_KEY,
  ]);
});

test.each([
  ['database.sqlite', 'database-not-named', '--database'],
  ['pin', 'token-not-named', '--pkcs11-token'],
  ['tls/ca.pem', 'data-folder-incomplete', 'backup'],
  ['tokens', 'data-folder-incomplete', 'service/tokens'],
] as const)(
  'rejects data without %s, names what may be missing, and makes nothing in its place',
  async (name, expected, words) => {
    await copyData(data, 2048);
    const path = join(data, 'service', name);
    await rm(path, { recursive: true });
    const { code, errors } = await start('--client-env', clientEnv);
    expect(code).toBe(6);
    expect(errors).toContain(SERVER_ERRORS[expected].hint);
    expect(errors).toContain(words);
    expect(await exists(path)).toBe(false);
    expect(await exists(clientEnv)).toBe(false);
  },
);

test('a data folder that cannot be read is not treated as missing', async () => {
  await writeFile(data, 'a file');
  const { code, errors } = await start('--client-env', clientEnv);
  expect(code).toBe(6);
  expect(errors).toContain(SERVER_ERRORS['data-folder-unusable'].hint);
});

test('an existing part that cannot be read is not reported as missing', async () => {
  await copyData(data, 2048);
  const pin = join(data, 'service', 'pin');
  await rm(pin);
  await mkdir(pin);
  const { code, errors } = await start('--client-env', clientEnv);
  expect(code).toBe(6);
  expect(errors).toContain(pin);
  expect(errors).not.toContain('backup');
});
