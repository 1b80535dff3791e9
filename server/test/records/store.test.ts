/** The store's contract, held to each database. */

import { describe, expect, test } from 'vitest';
import { folderForEach, forEach } from '../../../test/support/set-up.ts';
import { prepareTables } from '../../src/records/migrations.ts';
import { openPostgresStore } from '../../src/records/postgres.ts';
import { newRecordId, type RecordFilter } from '../../src/records/records.ts';
import type { SignatureRecord } from '../../src/records/rows.ts';
import { addClient } from '../support/clients.ts';
import { allRecords, certificateUntil, PATIENCE, recordFor } from '../support/counting-scene.ts';
import { KINDS, openStores } from '../support/databases.ts';
import { operationAt } from '../support/operation.ts';

const folder = folderForEach();
const NOW = new Date('2030-01-01T00:00:00Z');
const later = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);
const CERTIFICATE = certificateUntil('1', new Date('2030-12-31'));

describe.each(KINDS)('%s', (kind) => {
  const stores = forEach(async () => {
    const opened = await openStores(kind, folder.at('database.sqlite'));
    await opened.store.certificates.add(CERTIFICATE, NOW);
    return opened;
  });

  test('keeps the settings of a client, and changes only the given ones', async () => {
    const { store, other } = stores;
    const limits = { certificates: ['1'], algorithms: ['SHA256'] as const, expiresAt: later(9), quota: 7 };
    const { accessKey, accessSecret, ...client } = await addClient(store, { name: 'builds', ...limits });
    const found = async () => await other.clients.findByAccessKey(accessKey);
    const expected = {
      ...{ ...client, accessKey, signatures: 0, disabled: false, previous: undefined, monthSignatures: 0 },
      createdAt: expect.any(Date),
    };
    expect(await found()).toEqual(expected);
    await other.clients.change(accessKey, { disabled: true });
    expect(await found()).toEqual({ ...expected, disabled: true });
    await store.clients.change(accessKey, { quota: undefined, monthlyQuota: 3 });
    expect(await other.clients.list()).toEqual([{ ...expected, disabled: true, quota: undefined, monthlyQuota: 3 }]);
  });

  test('stores a change and its entry in the audit log, both or neither', async () => {
    const { store, other } = stores;
    const { accessKey: target } = await addClient(store);
    const [first, second] = [operationAt(NOW), operationAt(later(5))].map((each) => ({ ...each, target }));
    if (first === undefined || second === undefined) return expect.unreachable();
    await store.change(first, ({ clients }) => clients.change(target, { name: 'changed' }));
    const failed = store.change(second, async ({ clients }) => {
      await clients.change(target, { name: 'not kept' });
      throw new Error('as if it failed');
    });
    await expect(failed).rejects.toThrow('as if it failed');
    expect(await other.clients.findByAccessKey(target)).toMatchObject({ name: 'changed' });
    await store.change(second, async () => {});
    const entries = [first, second].map(({ at, ...entry }) => ({ ...entry, at: at.toISOString() }));
    expect(await other.audit.list({})).toEqual(entries);
    expect(await other.audit.list({}, 1)).toEqual(entries.slice(1));
    expect(await other.audit.list({ since: NOW, until: later(5) })).toEqual(entries.slice(0, 1));
  });

  test('finds nothing by a name that no database can hold', async () => {
    const { store } = stores;
    expect(await store.clients.findByAccessKey('a\u0000')).toBeUndefined();
    expect(await store.viewers.findByAccessKey('V\u0000')).toBeUndefined();
    expect(await store.certificates.find('1\u0000')).toBeUndefined();
    expect(await store.records.find('\u0000')).toBeUndefined();
    expect(await store.records.report('\u0000', 'x', 1, NOW)).toBeUndefined();
  });

  test('lists records in signing order, page by page in either direction, with filters', async () => {
    const { store, other } = stores;
    const [one, two] = [await addClient(store), await addClient(store)];
    const signed = [0, 0, 1, 2, 3].map((time, index) => ({
      ...recordFor(index === 2 ? two.id : one.id, later(time)),
      id: newRecordId(later(index)),
    }));
    for (const entry of signed) expect(await store.counting.add(entry, PATIENCE)).toBe(true);
    const inOrder = signed.map(({ id }) => id);
    const ids = async (filter: RecordFilter) => (await allRecords(other, filter)).map(({ id }) => id);
    expect(await ids({})).toEqual(inOrder);
    expect(await ids({ clientId: two.id })).toEqual([inOrder[2]]);
    expect(await ids({ since: later(1), until: later(2) })).toEqual([inOrder[2]]);
    expect(await ids({ certificate: 'unknown' })).toEqual([]);
    for (const order of ['oldest first', 'newest first'] as const) {
      const seen: SignatureRecord[] = [];
      for (const size of [2, 2, 2]) seen.push(...(await other.records.search({}, order, size, seen.at(-1))));
      expect(seen.every(({ signature }) => signature === undefined)).toBe(true);
      expect(seen.map(({ id }) => id)).toEqual(order === 'oldest first' ? inOrder : inOrder.toReversed());
    }
  });

  test('renews a certificate only for the key of its number, and keeps the first request and authority', async () => {
    const { store, other } = stores;
    expect(await store.certificates.renew({ ...CERTIFICATE, chain: 'new' })).toBe(true);
    expect(await store.certificates.renew({ ...CERTIFICATE, keyId: 'bb', chain: 'other' })).toBe(false);
    expect(await other.certificates.find('1')).toMatchObject({ keyId: 'aa', chain: 'new' });
    const request = { number: '2', keyId: 'cc', request: 'pem' };
    await store.certificateRequests.add(request, NOW);
    await other.certificateRequests.add({ ...request, keyId: 'dd' }, NOW);
    expect(await other.certificateRequests.find(request.number)).toEqual(request);
    await store.certificateRequests.remove('2');
    expect(await other.certificateRequests.find('2')).toBeUndefined();
    expect(await store.authority.get()).toBeUndefined();
    const first = { keyId: 'aa', certificate: 'one' };
    await store.authority.add(first);
    await other.authority.add({ keyId: 'bb', certificate: 'two' });
    expect(await store.authority.get()).toEqual(first);
  });
});

test('a database that does not answer has a separate error, without the password', async () => {
  const opened = openPostgresStore('postgres://somebody:a-secret@127.0.0.1:1/none', prepareTables('create'));
  await expect(opened).rejects.toMatchObject({ code: 'database-unusable', exitCode: 6 });
  await expect(opened).rejects.not.toThrow(/a-secret/);
});

test('the id of a record is a UUID of version 7 that contains its time', () => {
  const now = new Date('2026-11-21T12:34:56.789Z');
  expect(newRecordId(now)).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(Number.parseInt(newRecordId(now).replaceAll('-', '').slice(0, 12), 16)).toBe(now.getTime());
  expect(new Set(Array.from({ length: 1000 }, () => newRecordId(now))).size).toBe(1000);
});
