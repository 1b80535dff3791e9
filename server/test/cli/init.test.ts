/** The administration commands before a server has data. */

import { access, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderForEach } from '../../../test/support/set-up.ts';
import { SERVER_ERRORS } from '../../src/errors.ts';
import { adminCommand } from '../support/commands.ts';
import { usePostgres } from '../support/postgres.ts';

const folder = folderForEach();

test('every command except init and certificate add requires existing data', async () => {
  const place = folder.at('none');
  for (const args of [['client', 'list'], ['quota'], ['records'], ['export'], ['certificate', 'list']]) {
    const { code, errors } = await adminCommand([...args, '--data', place]);
    expect(code).toBe(2);
    expect(errors).toContain(SERVER_ERRORS['data-folder-not-made'].hint);
  }
  await expect(access(place)).rejects.toThrow();
});

test('init creates the data once, without a client; no command creates tables in a misspelt database', async () => {
  const postgres = await usePostgres();
  const [database, mistyped] = [await postgres.newDatabase(), await postgres.newDatabase()];
  const place = folder.at('named');
  const made = new Set<number>();
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
  for (const _time of ['creates the data', 'leaves them as they are']) {
    const { code, output, errors } = await on(database, place, 'init');
    expect({ code, output, errors }).toEqual({ code: 0, output: `${join(place, 'service')}\n`, errors: '' });
    made.add((await stat(join(place, 'service', 'pin'))).mtimeMs);
  }
  expect(made.size).toBe(1);
  const list = async (what: string) => (await on(database, place, what, 'list')).output;
  expect([await list('client'), await list('certificate')]).toEqual([
    '',
    expect.stringMatching(/^NUMBER .*\n1 +RSA 3072 +valid /),
  ]);
  const entries = () => postgres.query(database, 'select count(*) from operations');
  const before = await entries();
  for (const command of [['init'], ['certificate', 'add', '--number', 'x', '--bits', '2048']]) {
    const { code, errors } = await on(database, folder.at('other'), ...command);
    expect(code).toBe(6); // the keys of this database are in another token
    expect(errors).toContain(SERVER_ERRORS['key-not-found'].hint);
  }
  expect([await readdir(folder.at('other')), await entries()]).toEqual([[], before]);
  const commands = ['init', 'start --port 0', 'client add', 'records', 'viewer add', 'certificate disable 1'];
  for (const line of [...commands, 'certificate request --number y', 'certificate import --number y --chain none']) {
    await rejected(place, ...line.split(' '));
  }

  await postgres.query(database, "update authorities set certificate = 'another'"); // as if it were another server's
  const { code, errors } = await on(database, place, 'client', 'add');
  expect([code, await entries()]).toEqual([2, before]);
  expect(errors).toContain('the code-signing authorities of the database and the data folder differ');
}, 60_000);
