import type { Migration } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { folderForEach } from '../../../test/support/set-up.ts';
import { MIGRATIONS, type PrepareTables, prepareTables } from '../../src/records/migrations.ts';
import { KINDS, newDatabase } from '../support/databases.ts';

const folder = folderForEach();

/** Every table with its columns. */
const TABLES = {
  SQLite: 'select name, sql from sqlite_schema order by name',
  PostgreSQL: `select table_name, column_name from information_schema.columns where table_schema = 'public' order by 1, 2`,
};

describe.each(KINDS)('%s', (kind) => {
  let database: Awaited<ReturnType<typeof newDatabase>>;
  beforeEach(async () => {
    database = await newDatabase(kind, folder.at('database.sqlite'));
  });
  const opens = async (prepare: PrepareTables) => await (await database.open(prepare)).close();
  const create = () => opens(prepareTables('create'));
  const rejects = async (prepare: PrepareTables, error: object) => {
    const before = await database.run(TABLES[kind]);
    await expect(database.open(prepare)).rejects.toMatchObject(error);
    expect(await database.run(TABLES[kind])).toEqual(before);
  };
  const another = (reason: string) => ({
    ...{ code: 'database-of-another', exitCode: 2, message: expect.stringContaining(reason) },
  });

  test('two servers that open a new database at the same time share its tables', async () => {
    const stores = await Promise.all([database.open(), database.open()]);
    for (const store of stores) expect(await store.clients.list()).toEqual([]);
    for (const store of stores) await store.close();
  });

  test('an empty database gets tables only if they may be created', async () => {
    for (const rights of ['use', 'update'] as const) {
      await rejects(prepareTables(rights), another("the server's tables are missing"));
    }
    await create();
    await create();
    await opens(prepareTables('use'));
  });

  test('adds no tables to a database of another program', async () => {
    await database.run('create table customers (id text)');
    for (const rights of ['use', 'update', 'create'] as const) await rejects(prepareTables(rights), another('tables'));
    await database.run('create table kysely_migration (name text)');
    await database.run("insert into kysely_migration values ('2020-customers')");
    for (const rights of ['use', 'update', 'create'] as const) {
      await rejects(prepareTables(rights), another('another program created tables'));
    }
  });

  test('a database with another authority than the data folder is rejected', async () => {
    const store = await database.open();
    await store.authority.add({ keyId: 'aa', certificate: 'ours' });
    await store.close();
    await opens(prepareTables('update', 'ours'));
    for (const rights of ['use', 'update'] as const) {
      await rejects(prepareTables(rights, 'another'), another('the code-signing authorities'));
    }
  });

  test('a database of a newer server is reported as newer and not changed', async () => {
    await create();
    await database.run("insert into kysely_migration values ('9999-later', '2030-01-01')");
    const error = { code: 'database-newer', exitCode: 6, message: expect.stringContaining('9999-later') };
    for (const rights of ['use', 'update', 'create'] as const) await rejects(prepareTables(rights), error);
  });

  test('a database of an older server is updated only if it may be', async () => {
    await create();
    const next: Migration = { up: (db) => db.schema.createTable('added').addColumn('id', 'text').execute() };
    const migrations = { ...MIGRATIONS, '0002-next': next };
    await rejects(prepareTables('use', undefined, migrations), { code: 'database-older', exitCode: 6 });
    await opens(prepareTables('update', undefined, migrations));
    await opens(prepareTables('use', undefined, migrations));
    await rejects(prepareTables('use'), { code: 'database-newer' });
  });
});
