import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/records/sqlite.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-migrations-'));
  path = join(folder, 'database.sqlite');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const schema = (file: Database.Database) =>
  file.prepare('select type, name, sql from sqlite_schema order by name').all();

test('two servers that open a new database at the same time share its tables', async () => {
  const stores = await Promise.all([openSqliteStore(path), openSqliteStore(path)]);
  for (const store of stores) expect(await store.clients.list()).toEqual([]);
  for (const store of stores) await store.close();
});

test('a database of a newer server is rejected and left as it is', async () => {
  await (await openSqliteStore(path)).close();
  const file = new Database(path);
  file.exec("insert into kysely_migration values ('9999-later', '2030-01-01')");
  const before = schema(file);
  await expect(openSqliteStore(path)).rejects.toMatchObject({
    code: 'database-unusable',
    message: expect.stringContaining('9999-later'),
  });
  expect(schema(file)).toEqual(before);
  file.close();
});
