import type { Migration } from 'kysely';
import Database from 'libsql';
import { beforeEach, describe, expect, test } from 'vitest';
import { folderForEach } from '../../../test/support/set-up.ts';
import { MIGRATIONS, type PrepareTables, prepareTables } from '../../src/records/migrations.ts';
import { openPostgresStore } from '../../src/records/postgres.ts';
import { openSqliteStore } from '../../src/records/sqlite.ts';
import type { Store } from '../../src/records/store.ts';
import { usePostgres } from '../support/postgres.ts';

const folder = folderForEach();
const postgres = await usePostgres();

interface Place {
  open(prepare: PrepareTables): Promise<Store>;
  run(statement: string): unknown;
  /** Every table with its columns. */
  tables(): unknown;
}

const PLACES: Readonly<Record<string, () => Place | Promise<Place>>> = {
  SQLite() {
    const path = folder.at('database.sqlite');
    const withFile = <T>(work: (file: Database.Database) => T): T => {
      const file = new Database(path);
      try {
        return work(file);
      } finally {
        file.close();
      }
    };
    return {
      open: (prepare) => openSqliteStore(path, prepare),
      run: (statement) => withFile((file) => file.exec(statement)),
      tables: () => withFile((file) => file.prepare('select name, sql from sqlite_schema order by name').all()),
    };
  },
  async PostgreSQL() {
    const url = await postgres.newDatabase();
    const columns = `select table_name, column_name from information_schema.columns where table_schema = 'public' order by 1, 2`;
    return {
      open: (prepare) => openPostgresStore(url, prepare),
      run: (statement) => postgres.query(url, statement),
      tables: () => postgres.query(url, columns),
    };
  },
};

describe.each(Object.keys(PLACES))('%s', (name) => {
  let place: Place;
  beforeEach(async () => {
    place = (await PLACES[name]?.()) ?? expect.unreachable();
  });
  const create = async () => await (await place.open(prepareTables('create'))).close();
  const rejects = async (prepare: PrepareTables, error: object) => {
    const before = await place.tables();
    await expect(place.open(prepare)).rejects.toMatchObject(error);
    expect(await place.tables()).toEqual(before);
  };
  const another = (reason: string) => ({
    code: 'database-of-another',
    exitCode: 2,
    message: expect.stringContaining(reason),
  });

  test('two servers that open a new database at the same time share its tables', async () => {
    const stores = await Promise.all([place.open(prepareTables('create')), place.open(prepareTables('create'))]);
    for (const store of stores) expect(await store.clients.list()).toEqual([]);
    for (const store of stores) await store.close();
  });

  test('an empty database gets tables only if they may be created', async () => {
    for (const rights of ['use', 'update'] as const)
      await rejects(prepareTables(rights), another("the server's tables"));
    await create();
    await create();
    await (await place.open(prepareTables('use'))).close();
  });

  test('adds no tables to a database of another program', async () => {
    await place.run('create table customers (id text)');
    for (const rights of ['use', 'update', 'create'] as const) await rejects(prepareTables(rights), another('tables'));
    await place.run('create table kysely_migration (name text)');
    await place.run("insert into kysely_migration values ('2020-customers')");
    for (const rights of ['use', 'update', 'create'] as const) {
      await rejects(prepareTables(rights), another('another program'));
    }
  });

  test('a database with another authority than the data folder is rejected', async () => {
    await create();
    const store = await place.open(prepareTables('use'));
    await store.authority.add({ keyId: 'aa', certificate: 'ours' });
    await store.close();
    await (await place.open(prepareTables('update', 'ours'))).close();
    for (const rights of ['use', 'update'] as const) {
      await rejects(prepareTables(rights, 'another'), another('code-signing authorities'));
    }
  });

  test('a database of a newer server is reported as newer and not changed', async () => {
    await create();
    await place.run("insert into kysely_migration values ('9999-later', '2030-01-01')");
    for (const rights of ['use', 'update', 'create'] as const) {
      await rejects(prepareTables(rights), {
        code: 'database-newer',
        exitCode: 6,
        message: expect.stringContaining('9999-later'),
      });
    }
  });

  test('a database of an older server is updated only if it may be', async () => {
    await create();
    const next: Migration = {
      up: (database) => database.schema.createTable('added').addColumn('id', 'text').execute(),
    };
    const migrations = { ...MIGRATIONS, '0002-next': next };
    await rejects(prepareTables('use', undefined, migrations), { code: 'database-older', exitCode: 6 });
    await (await place.open(prepareTables('update', undefined, migrations))).close();
    await (await place.open(prepareTables('use', undefined, migrations))).close();
    await rejects(prepareTables('use'), { code: 'database-newer' });
  });
});
