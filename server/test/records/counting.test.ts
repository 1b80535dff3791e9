/** Counting, held to each database: what is counted is what may be given, and never more than a quota. */

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderForAll, forAll } from '../../../test/support/set-up.ts';
import { addClient } from '../support/clients.ts';
import { certificateUntil, countedFor, PATIENCE, recordFor } from '../support/counting-scene.ts';
import { KINDS, openStores } from '../support/databases.ts';

const folder = folderForAll();
const NOW = new Date('2030-01-01T00:00:00Z');
const later = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);

describe.each(KINDS)('%s', async (kind) => {
  const { store, other, run } = await forAll(openStores(kind, join(folder, 'database.sqlite')));
  for (const number of ['1', '2']) await store.certificates.add(certificateUntil(number, later(1000)), NOW);
  const signed = (clientId: string) => recordFor(clientId, NOW);
  const add = (record: ReturnType<typeof recordFor>, by = store) => by.counting.add(record, PATIENCE);
  /** Which of so many competing calls were counted, and that no record of the others is kept. */
  const compete = async (clientId: string, calls: number) => {
    const records = Array.from({ length: calls }, () => signed(clientId));
    const counted = await Promise.all(records.map((record, index) => add(record, index % 2 === 0 ? store : other)));
    const kept = await Promise.all(records.map(async ({ id }) => (await other.records.find(id)) !== undefined));
    expect(kept).toEqual(counted);
    return counted.filter(Boolean).length;
  };

  test('counts a signature and keeps its record', async () => {
    const client = await addClient(store, { quota: 2 });
    const record = { ...signed(client.id), signedAt: later(1000) }; // the certificate's last moment
    expect(await add(record)).toBe(true);
    expect(await countedFor(other, client)).toBe(1);
    expect(await other.records.find(record.id)).toEqual({ ...record, counted: true, report: undefined });
  });

  test('counts as many as the quota of each client allows, however many callers compete', async () => {
    const clients = [
      await addClient(store, { quota: 5 }),
      await addClient(store, { quota: 2 }),
      await addClient(store),
    ];
    expect(await Promise.all(clients.map(({ id }) => compete(id, 12)))).toEqual([5, 2, 12]);
    expect(await Promise.all(clients.map((client) => countedFor(other, client)))).toEqual([5, 2, 12]);
  });

  test.each([
    ['a quota of 0', { quota: 0 }, {}],
    ['a monthly quota of 0', { monthlyQuota: 0 }, {}],
    ['a client that is disabled', { disabled: true }, {}],
    ['a client that has expired', { expiresAt: NOW }, {}],
    ['a certificate that the client may not use', { certificates: ['2'] }, {}],
    ['an algorithm that the client may not use', { algorithms: ['SHA384'] as const }, {}],
    ['a certificate that has expired', { name: 'x' }, { signedAt: later(1001) }],
    ['a certificate that is not valid yet', { name: 'x' }, { signedAt: later(-1) }],
  ])('counts nothing at %s, and keeps no record', async (_name, change, more) => {
    const client = await addClient(store);
    await other.clients.change(client.accessKey, change);
    const record = { ...signed(client.id), ...more };
    expect(await add(record)).toBe(false);
    expect(await store.records.find(record.id)).toBeUndefined();
    expect(await countedFor(other, client)).toBe(0);
  });

  test('counts nothing with a certificate that was disabled, or after the time for which it was enabled', async () => {
    const client = await addClient(store, { certificates: ['2', '1'], algorithms: ['SHA1', 'SHA256'] });
    await other.certificates.disable('1', true);
    expect(await add(signed(client.id))).toBe(false);
    await other.certificates.disable('1', false, later(5));
    expect(await add({ ...signed(client.id), signedAt: later(4) })).toBe(true);
    expect(await add({ ...signed(client.id), signedAt: later(5) })).toBe(false);
    await other.certificates.disable('1', false);
    expect(await add({ ...signed(client.id), signedAt: later(5) })).toBe(true);
    expect(await countedFor(other, client)).toBe(2);
  });

  test('counts by month next to the total, in the month of the database’s clock', async () => {
    const client = await addClient(store, { quota: 9, monthlyQuota: 3 });
    expect(await compete(client.id, 12)).toBe(3); // the time of the records is in another month
    const row = async () => await store.clients.findByAccessKey(client.accessKey);
    expect(await row()).toMatchObject({ signatures: 3, monthSignatures: 3 });

    await other.clients.change(client.accessKey, { monthlyQuota: 4 });
    const last = signed(client.id);
    expect(await add(last)).toBe(true);
    expect(await add(signed(client.id), other)).toBe(false);
    await other.counting.takeBack(last, PATIENCE);
    expect(await row()).toMatchObject({ signatures: 3, monthSignatures: 3 });
    expect(await add(signed(client.id))).toBe(true);
  });

  test('a month that ended keeps its count, and the next begins with none', async () => {
    const client = await addClient(store, { monthlyQuota: 1 });
    const record = signed(client.id);
    expect(await add(record)).toBe(true);
    await run(`update client_months set month = '2001-01' where client_id = '${client.id}';
      update records set month = '2001-01' where id = '${record.id}'`);
    expect(await store.clients.findByAccessKey(client.accessKey)).toMatchObject({ signatures: 1, monthSignatures: 0 });
    expect(await add(signed(client.id), other)).toBe(true);
    expect(await add(signed(client.id))).toBe(false);
    await store.counting.takeBack(record, PATIENCE); // which counted in the month that ended
    expect(await add(signed(client.id))).toBe(false);
    expect(await store.clients.findByAccessKey(client.accessKey)).toMatchObject({ signatures: 1, monthSignatures: 1 });
  });

  test('counts a record once, however often the same transaction runs, even if the quota is used up by then', async () => {
    const client = await addClient(store, { quota: 1 });
    const record = signed(client.id);
    expect([await add(record), await add(record, other)]).toEqual([true, true]);
    expect([await add(signed(client.id)), await add(record)]).toEqual([false, true]);
    expect(await countedFor(store, client)).toBe(1);
  });

  test('a record that cannot be stored fails its own call only, and counting is said to fail until the next', async () => {
    const client = await addClient(store);
    const records = ['1', '1', 'unknown', '1', '1'].map((certificate) => ({ ...signed(client.id), certificate }));
    const results = await Promise.allSettled(records.map((record) => add(record)));
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, true]);
    expect(results[2]).toMatchObject({ reason: { message: expect.stringMatching(/foreign key/i) } });
    expect(await countedFor(other, client)).toBe(4);
    await expect(add({ ...signed(client.id), certificate: 'unknown' })).rejects.toThrow();
    expect(store.counting.isFailing()).toBe(true);
    await add(signed(client.id));
    expect(store.counting.isFailing()).toBe(false);
  });

  test('reverts a count once, and leaves nothing of a record that was never counted', async () => {
    const client = await addClient(store, { quota: 1 });
    const [record, never] = [signed(client.id), signed(client.id)];
    await add(record);
    await Promise.all([store, other].map((each) => each.counting.takeBack(record, PATIENCE)));
    await store.counting.takeBack(never, PATIENCE);
    expect(await countedFor(store, client)).toBe(0);
    expect(await store.records.find(record.id)).toMatchObject({ counted: false });
    expect(await store.records.find(never.id)).toBeUndefined();
    expect(await add(signed(client.id))).toBe(true);
  });
});
