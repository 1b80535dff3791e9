/** Counting, held to each database: what is counted is what may be given, and never more than a quota. */

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folderForAll } from '../../../test/support/set-up.ts';
import { prepareTables } from '../../src/records/migrations.ts';
import { openPostgresStore } from '../../src/records/postgres.ts';
import { openSqliteStore } from '../../src/records/sqlite.ts';
import type { Store } from '../../src/records/store.ts';
import { certificateUntil, countedFor, newClient, PATIENCE, recordFor } from '../support/counting-scene.ts';
import { usePostgres } from '../support/postgres.ts';

const folder = folderForAll();
const postgres = await usePostgres();

const NOW = new Date('2030-01-01T00:00:00Z');
const later = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);

describe.each(['SQLite', 'PostgreSQL'])('%s', (name) => {
  let store: Store;
  /** A second server on the same database. With SQLite it is the same one: two in one process wait for each other's locks. */
  let other: Store;
  let runSql: (text: string) => unknown;
  beforeAll(async () => {
    if (name === 'SQLite') store = await openSqliteStore(join(folder, 'database.sqlite'), prepareTables('create'));
    else {
      const url = await postgres.newDatabase();
      runSql = (text) => postgres.query(url, text);
      store = await openPostgresStore(url, prepareTables('create'));
      other = await openPostgresStore(url, prepareTables('create'));
    }
    if (name === 'SQLite') {
      other = store;
      runSql = (text) => {
        const file = new Database(join(folder, 'database.sqlite'));
        file.exec(text);
        file.close();
      };
    }
    await store.certificates.add(certificateUntil('1', later(1000)), NOW);
    await store.certificates.add(certificateUntil('2', later(1000)), NOW);
  });
  afterAll(async () => {
    await store.close();
    if (other !== store) await other.close();
  });
  const signed = (clientId: string) => recordFor(clientId, NOW);
  const add = (record: ReturnType<typeof recordFor>, by = store) => by.counting.add(record, PATIENCE);

  test('counts a signature and keeps its record', async () => {
    const client = await newClient(store, { quota: 2 });
    const record = signed(client.id);
    expect(await add(record)).toBe(true);
    expect(await countedFor(other, client)).toBe(1);
    expect(await other.records.find(record.id)).toEqual({ ...record, counted: true, report: undefined });
  });

  test('counts as many as the quota allows, however many callers compete, and keeps no record of the others', async () => {
    const client = await newClient(store, { quota: 5 });
    const records = Array.from({ length: 20 }, () => signed(client.id));
    const counted = await Promise.all(records.map((record, index) => add(record, index % 2 === 0 ? store : other)));
    expect(counted.filter(Boolean)).toHaveLength(5);
    expect(await countedFor(store, client)).toBe(5);
    const kept = await Promise.all(records.map(async ({ id }) => (await other.records.find(id)) !== undefined));
    expect(kept).toEqual(counted);
  });

  test('concurrent calls of several clients keep to each one’s quota', async () => {
    const clients = [
      await newClient(store, { quota: 4 }),
      await newClient(store, { quota: 2 }),
      await newClient(store),
    ];
    const counted = await Promise.all(
      clients.map(({ id }) => Promise.all(Array.from({ length: 6 }, () => add(signed(id))))),
    );
    expect(counted.map((each) => each.filter(Boolean).length)).toEqual([4, 2, 6]);
    expect(await Promise.all(clients.map((client) => countedFor(other, client)))).toEqual([4, 2, 6]);
  });

  test.each([
    ['a quota of 0', { quota: 0 }, {}],
    ['a monthly quota of 0', { monthlyQuota: 0 }, {}],
    ['a client that is disabled', { disabled: true }, {}],
    ['a client that has expired', { expiresAt: NOW }, {}],
    ['a certificate that the client may not use', { certificates: ['2'] }, {}],
    ['an algorithm that the client may not use', { algorithms: ['SHA384'] as const }, {}],
    ['a certificate that has expired', {}, { signedAt: later(1001) }],
    ['a certificate that is not valid yet', {}, { signedAt: later(-1) }],
  ])('counts nothing at %s, and keeps no record', async (_name, change, more) => {
    const client = await newClient(store);
    if (Object.keys(change).length > 0) await other.clients.change(client.accessKey, change);
    const record = { ...signed(client.id), ...more };
    expect(await add(record)).toBe(false);
    expect(await store.records.find(record.id)).toBeUndefined();
    expect(await countedFor(other, client)).toBe(0);
  });

  test('counts nothing with a certificate that was disabled, and counts again with one that is enabled', async () => {
    const client = await newClient(store, { certificates: ['2', '1'], algorithms: ['SHA1', 'SHA256'] });
    await other.certificates.disable('1', true);
    expect(await add(signed(client.id))).toBe(false);
    await other.certificates.disable('1', false);
    expect(await add(signed(client.id))).toBe(true);
    expect(await countedFor(other, client)).toBe(1);
  });

  test('counts with a certificate that is enabled for a time only until its end', async () => {
    const client = await newClient(store);
    await other.certificates.disable('1', false, later(5));
    expect(await add({ ...signed(client.id), signedAt: later(4) })).toBe(true);
    expect(await add({ ...signed(client.id), signedAt: later(5) })).toBe(false);
    await other.certificates.disable('1', false);
    expect(await add({ ...signed(client.id), signedAt: later(5) })).toBe(true);
    expect(await countedFor(other, client)).toBe(2);
  });

  test('counts by month next to the total, in the month of the database’s clock', async () => {
    const client = await newClient(store, { quota: 9, monthlyQuota: 3 });
    const records = Array.from({ length: 12 }, () => signed(client.id)); // their time is another month
    const counted = await Promise.all(records.map((record, index) => add(record, index % 2 === 0 ? store : other)));
    expect(counted.filter(Boolean)).toHaveLength(3);
    const row = async () => await store.clients.findByAccessKey(client.accessKey);
    expect(await row()).toMatchObject({ signatures: 3, monthSignatures: 3 });
    const kept = await Promise.all(records.map(async ({ id }) => (await other.records.find(id)) !== undefined));
    expect(kept).toEqual(counted);

    await other.clients.change(client.accessKey, { monthlyQuota: 4 });
    const last = signed(client.id);
    expect(await add(last)).toBe(true);
    expect(await add(signed(client.id), other)).toBe(false);
    await other.counting.takeBack(last, PATIENCE);
    expect(await row()).toMatchObject({ signatures: 3, monthSignatures: 3 });
    expect(await add(signed(client.id))).toBe(true);
  });

  test('a month that ended keeps its count, and the next begins with none', async () => {
    const client = await newClient(store, { monthlyQuota: 1 });
    const record = signed(client.id);
    expect(await add(record)).toBe(true);
    await runSql(`update client_months set month = '2001-01' where client_id = '${client.id}';
      update records set month = '2001-01' where id = '${record.id}'`);
    expect(await store.clients.findByAccessKey(client.accessKey)).toMatchObject({ signatures: 1, monthSignatures: 0 });
    expect(await add(signed(client.id), other)).toBe(true);
    expect(await add(signed(client.id))).toBe(false);
    await store.counting.takeBack(record, PATIENCE); // which counted in the month that ended
    expect(await add(signed(client.id))).toBe(false);
    expect(await store.clients.findByAccessKey(client.accessKey)).toMatchObject({ signatures: 1, monthSignatures: 1 });
  });

  test('counts a record once, however often the same transaction runs, even if the quota is used up by then', async () => {
    const client = await newClient(store, { quota: 1 });
    const record = signed(client.id);
    expect(await add(record)).toBe(true);
    expect(await add(record, other)).toBe(true);
    expect(await add(signed(client.id))).toBe(false);
    expect(await add(record)).toBe(true);
    expect(await countedFor(store, client)).toBe(1);
  });

  test('a record that cannot be stored fails its own call only', async () => {
    const client = await newClient(store);
    const records = Array.from({ length: 5 }, (_, index) => ({
      ...signed(client.id),
      ...(index === 2 && { certificate: 'unknown' }),
    }));
    const results = await Promise.allSettled(records.map((record) => add(record)));
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, true]);
    expect(results[2]).toMatchObject({
      reason: expect.objectContaining({ message: expect.stringMatching(/foreign key/i) }),
    });
    expect(await countedFor(other, client)).toBe(4);
  });

  test('says whether the last transaction failed', async () => {
    const client = await newClient(store);
    await add(signed(client.id));
    expect(store.counting.isFailing()).toBe(false);
    await expect(add({ ...signed(client.id), certificate: 'unknown' })).rejects.toThrow();
    expect(store.counting.isFailing()).toBe(true);
    await add(signed(client.id));
    expect(store.counting.isFailing()).toBe(false);
  });

  test('reverts a count once, and leaves nothing of a record that was never counted', async () => {
    const client = await newClient(store, { quota: 1 });
    const [record, never] = [signed(client.id), signed(client.id)];
    await add(record);
    await Promise.all([store, other].map((each) => each.counting.takeBack(record, PATIENCE)));
    await store.counting.takeBack(never, PATIENCE);
    expect(await countedFor(store, client)).toBe(0);
    expect(await store.records.find(record.id)).toMatchObject({ counted: false });
    expect(await store.records.find(never.id)).toBeUndefined();
    expect(await add({ ...signed(client.id), id: randomUUID() })).toBe(true);
  });
});
