/** The database of the first release (first-release.sql: as that server wrote it, three signatures and one report) keeps working. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/records/sqlite.ts';
import { allRecords } from '../support/records.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-migrations-'));
  path = join(folder, 'database.sqlite');
  const file = new Database(path);
  file.exec(await readFile(new URL('first-release.sql', import.meta.url), 'utf8'));
  file.close();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('clients, certificates, authority and records of the first release are as they were', async () => {
  const [store, other] = await Promise.all([openSqliteStore(path), openSqliteStore(path)]);
  const [client, ...noMore] = await store.clients.list();
  expect(client).toMatchObject({
    accessKey: 'AKD330758993C78FD46D6A',
    signatures: 3,
    reserved: 0,
    handedOver: true,
    disabled: false,
    quota: undefined,
    certificates: undefined,
    algorithms: undefined,
    expiresAt: undefined,
  });
  expect(noMore).toEqual([]);
  expect(await store.certificates.find('1')).toMatchObject({ keyId: '3976070e9997a55f6e76e0fc7f3ec818' });
  expect(await store.authorities.get('code-signing')).toMatchObject({ keyId: 'a5ff04c0f8de369012720bcd3662d236' });
  const records = await allRecords(other, {});
  expect(records.map(({ counted, signature, report }) => ({ counted, signature, status: report?.status }))).toEqual([
    { counted: true, signature: undefined, status: 1 },
    { counted: true, signature: undefined, status: undefined },
    { counted: true, signature: undefined, status: undefined },
  ]);

  const lease = { id: 'lease', clientId: client?.id ?? '', expiresAt: new Date(Date.now() + 1000) };
  expect(await store.quota.reserve(lease, new Date())).toBe(true);
  await store.close();
  await other.close();
});

test('a database of a newer server is rejected and left as it is', async () => {
  await (await openSqliteStore(path)).close();
  const file = new Database(path);
  file.exec("insert into kysely_migration values ('9999-later', '2030-01-01')");
  file.close();
  await expect(openSqliteStore(path)).rejects.toMatchObject({
    code: 'database-unusable',
    message: expect.stringContaining('9999-later'),
  });
});
