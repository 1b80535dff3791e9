/** The administration commands before a server has data. */

import { access, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderForEach } from '../../../test/support/set-up.ts';
import { SERVER_ERRORS } from '../../src/errors.ts';
import { adminCommand } from '../support/commands.ts';
import { usePostgres } from '../support/postgres.ts';

const folder = folderForEach();

test('init creates the data once, without a client, and prints where', async () => {
  const place = folder.at('new');
  await mkdir(place);
  const first = await adminCommand(['init', '--data', place]);
  expect(first).toMatchObject({ code: 0, output: `${join(place, 'service')}\n`, errors: '' });
  const made = await stat(join(place, 'service', 'pin'));
  expect((await adminCommand(['init', '--data', place])).output).toBe(first.output);
  expect((await stat(join(place, 'service', 'pin'))).mtimeMs).toBe(made.mtimeMs);
  expect((await adminCommand(['client', 'list', '--data', place])).output).toBe('');
  expect((await adminCommand(['certificate', 'list', '--data', place])).output).toMatch(
    /^NUMBER .*\n1 +RSA 3072 +valid /,
  );
});

test('every command except init and certificate add requires existing data', async () => {
  const place = folder.at('none');
  for (const args of [['client', 'list'], ['quota'], ['records'], ['export'], ['certificate', 'list']]) {
    const { code, errors } = await adminCommand([...args, '--data', place]);
    expect(code).toBe(2);
    expect(errors).toContain(SERVER_ERRORS['data-folder-not-made'].hint);
  }
  await expect(access(place)).rejects.toThrow();
});

test('only init creates tables in a given database, and no command does in a misspelt one', async () => {
  const postgres = await usePostgres();
  const [database, mistyped] = [await postgres.newDatabase(), await postgres.newDatabase()];
  const place = folder.at('named');
  const on = (url: string, data: string, ...args: readonly string[]) =>
    adminCommand([...args, '--data', data, '--database', url], true);
  const tables = () => postgres.query(mistyped, 'select count(*) from pg_tables where schemaname = current_schema()');
  const rejected = async (data: string, ...args: readonly string[]) => {
    const { code, errors } = await on(mistyped, data, ...args);
    expect([args, code, await tables()]).toEqual([args, 2, '0']);
    expect(errors).toContain(SERVER_ERRORS['database-of-another'].hint);
  };
  for (const command of ['add', 'request']) {
    await rejected(place, 'certificate', command, '--number', 'x', '--bits', '2048');
    expect(await readdir(place)).toEqual([]);
  }
  expect(await on(database, place, 'init')).toMatchObject({ code: 0, errors: '' });
  const entries = () => postgres.query(database, 'select count(*) from operations');
  const before = await entries();
  for (const command of [['init'], ['certificate', 'add', '--number', 'x', '--bits', '2048']]) {
    const { code, errors } = await on(database, folder.at('other'), ...command);
    expect(code).toBe(6); // the keys of this database are in another token
    expect(errors).toContain(SERVER_ERRORS['key-not-found'].hint);
  }
  expect([await readdir(folder.at('other')), await entries()]).toEqual([[], before]);
  for (const args of [
    ['init'],
    ['start', '--port', '0'],
    ['client', 'list'],
    ['client', 'add'],
    ['quota'],
    ['records'],
    ['export'],
    ['audit'],
    ['viewer', 'add'],
    ['certificate', 'list'],
    ['certificate', 'add', '--number', 'y'],
    ['certificate', 'request', '--number', 'y'],
    ['certificate', 'import', '--number', 'y', '--chain', 'none'],
    ['certificate', 'disable', '1'],
  ]) {
    await rejected(place, ...args);
  }
  expect((await on(database, place, 'client', 'list')).code).toBe(0);

  await postgres.query(database, "update authorities set certificate = 'another'"); // as if it were another server's
  const { code, errors } = await on(database, place, 'client', 'add');
  expect([code, await entries()]).toEqual([2, before]);
  expect(errors).toContain('its code-signing authority differs from that of the data folder');
}, 60_000);
