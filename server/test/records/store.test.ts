/** The store's contract, held to each database. */

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../src/records/postgres.ts';
import { openSqliteStore } from '../../src/records/sqlite.ts';
import type { Lease, Store } from '../../src/records/store.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let folder: string;
let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-store-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const DATABASES: readonly (readonly [string, () => () => Promise<Store>])[] = [
  ['SQLite', () => () => openSqliteStore(join(folder, 'database.sqlite'))],
  [
    'PostgreSQL',
    () => {
      const url = postgres.newDatabase();
      return () => openPostgresStore(url);
    },
  ],
];
const NOW = new Date('2030-01-01T00:00:00Z');
const later = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);

describe.each(DATABASES)('%s', (name, newDatabase) => {
  let open: () => Promise<Store>;
  let store: Store;
  /** A second server on the same database; with SQLite, where that is another process, see the quota's tests. */
  let other: Store;
  beforeEach(async () => {
    open = newDatabase();
    if (name === 'SQLite') {
      store = await open(); // its driver waits for another connection's lock without letting that one go on
      other = store;
    } else [store, other] = await Promise.all([open(), open()]); // both make the tables at once
    await store.certificates.add(certificate('1'), NOW);
  });
  afterEach(async () => {
    await store.close();
    if (other !== store) await other.close();
  });

  const certificate = (number: string) => ({ number, keyId: 'aa', chain: 'chain', notBefore: NOW, notAfter: later(1) });
  const newClient = async (quota: number | undefined) => {
    const id = randomUUID();
    const client = { id, accessKey: `AK-${id}`, name: 'builds', secretDigest: Buffer.alloc(32, 1), quota };
    await store.clients.add({ ...client, certificates: ['1'], algorithms: ['SHA256'], expiresAt: later(5) }, NOW);
    return client;
  };
  const leaseFor = (clientId: string, expiresAt = later(1000)): Lease => ({ id: randomUUID(), clientId, expiresAt });
  const record = (clientId: string, signedAt = NOW) => ({
    id: randomUUID(),
    clientId,
    certificate: '1',
    algorithm: 'SHA256' as const,
    digest: Buffer.alloc(32, 2),
    extra: { hostname: 'a\u0000b' },
    signature: Buffer.from([1, 2, 3]),
    signedAt,
  });
  const places = async (accessKey: string) => {
    const { signatures, reserved } = (await other.clients.findByAccessKey(accessKey)) ?? {};
    return { signatures, reserved };
  };

  test('keeps what is said of a client, and changes only what is asked for', async () => {
    const { accessKey, id } = await newClient(7);
    const expected = {
      ...{ id, accessKey, name: 'builds', signatures: 0, reserved: 0, handedOver: true, disabled: false, quota: 7 },
      ...{ certificates: ['1'], algorithms: ['SHA256'], expiresAt: later(5), createdAt: NOW },
      secretDigest: Buffer.alloc(32, 1),
    };
    expect(await other.clients.findByAccessKey(accessKey)).toEqual(expected);
    expect(await other.clients.change(accessKey, { disabled: true })).toBe(true);
    expect(await store.clients.findByAccessKey(accessKey)).toEqual({ ...expected, disabled: true });
    await store.clients.change(accessKey, { quota: undefined, secretDigest: Buffer.alloc(32, 9) });
    expect(await other.clients.list()).toEqual([
      { ...expected, disabled: true, quota: undefined, secretDigest: Buffer.alloc(32, 9) },
    ]);
    expect(await store.clients.change('nobody', { disabled: true })).toBe(false);
  });

  test('knows nothing by a name that no database can hold', async () => {
    expect(await store.clients.findByAccessKey('a\u0000')).toBeUndefined();
    expect(await store.certificates.find('1\u0000')).toBeUndefined();
    expect(await store.records.find('\u0000')).toBeUndefined();
    expect(await store.records.report('\u0000', 'x', 1, NOW)).toBeUndefined();
  });

  test('keeps as many places as the quota has, whoever asks at once', async () => {
    const { id, accessKey } = await newClient(5);
    const asked = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? store : other).quota.reserve(leaseFor(id), NOW),
    );
    expect((await Promise.all(asked)).filter((kept) => kept)).toHaveLength(5);
    expect(await places(accessKey)).toEqual({ signatures: 0, reserved: 5 });
  });

  test('counts in the place that was kept, and keeps the record', async () => {
    const { id, accessKey } = await newClient(1);
    const lease = leaseFor(id);
    expect(await store.quota.reserve(lease, NOW)).toBe(true);
    const signed = record(id);
    expect(await store.records.add(signed, lease)).toBe(true);
    expect(await places(accessKey)).toEqual({ signatures: 1, reserved: 0 });
    expect(await other.records.find(signed.id)).toEqual({ ...signed, counted: true, report: undefined });
    expect(await other.quota.reserve(leaseFor(id), later(10_000))).toBe(false);
  });

  test('gives a place back once, however often that is asked, and takes one that was released anew', async () => {
    const { id, accessKey } = await newClient(2);
    const lease = leaseFor(id);
    await store.quota.reserve(lease, NOW);
    await store.quota.release(lease);
    await other.quota.release(lease);
    expect(await places(accessKey)).toEqual({ signatures: 0, reserved: 0 });
    expect(await store.records.add(record(id), lease)).toBe(true);
    expect(await places(accessKey)).toEqual({ signatures: 1, reserved: 0 });
  });

  test('gives an expired place to the next call, and then refuses the count of the one that was late', async () => {
    const { id, accessKey } = await newClient(1);
    const late = leaseFor(id);
    await store.quota.reserve(late, NOW);
    expect(await other.quota.reserve(leaseFor(id), later(999))).toBe(false);
    const next = leaseFor(id, later(9000));
    expect(await other.quota.reserve(next, later(1000))).toBe(true);
    const refused = record(id);
    expect(await store.records.add(refused, late)).toBe(false);
    expect(await store.records.find(refused.id)).toBeUndefined();
    expect(await places(accessKey)).toEqual({ signatures: 0, reserved: 1 });
    expect(await other.records.add(record(id), next)).toBe(true);
    expect(await places(accessKey)).toEqual({ signatures: 1, reserved: 0 });
  });

  test('gives back at once what expired for every client', async () => {
    const clients = [await newClient(undefined), await newClient(3)];
    for (const { id } of clients) await store.quota.reserve(leaseFor(id), NOW);
    await store.quota.reserve(leaseFor(clients[0]?.id ?? '', later(2000)), NOW);
    expect(await other.quota.giveBackExpired(later(1500))).toBe(2);
    expect(await places(clients[0]?.accessKey ?? '')).toEqual({ signatures: 0, reserved: 1 });
    expect(await places(clients[1]?.accessKey ?? '')).toEqual({ signatures: 0, reserved: 0 });
  });

  test('stores neither record nor count where one of them cannot be', async () => {
    const { id, accessKey } = await newClient(2);
    const lease = leaseFor(id);
    await store.quota.reserve(lease, NOW);
    await expect(store.records.add({ ...record(id), certificate: 'unknown' }, lease)).rejects.toThrow(/foreign key/i);
    expect(await places(accessKey)).toEqual({ signatures: 0, reserved: 1 });
    expect(await store.quota.reserve(leaseFor('nobody'), NOW)).toBe(false);
  });

  test('a count that is taken back frees its place, once', async () => {
    const { id, accessKey } = await newClient(1);
    const lease = leaseFor(id);
    await store.quota.reserve(lease, NOW);
    const signed = record(id);
    await store.records.add(signed, lease);
    await Promise.all([store.records.uncount(signed.id), other.records.uncount(signed.id)]);
    expect(await places(accessKey)).toEqual({ signatures: 0, reserved: 0 });
    expect(await store.records.find(signed.id)).toMatchObject({ counted: false });
  });

  test('lists records in the order of signing, page by page, and by what is asked for', async () => {
    const [one, two] = [await newClient(undefined), await newClient(undefined)];
    const signed = [record(one.id), record(one.id), record(two.id, later(1)), record(one.id, later(2))];
    for (const entry of signed) await store.records.add(entry, leaseFor(entry.clientId));
    const inOrder = signed
      .toSorted((a, b) => a.signedAt.getTime() - b.signedAt.getTime() || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
    const ids = async (...args: Parameters<Store['records']['list']>) =>
      (await other.records.list(...args)).map(({ id }) => id);
    expect(await ids({}, 10)).toEqual(inOrder);
    const first = await other.records.list({}, 1);
    expect(await ids({}, 10, first[0])).toEqual(inOrder.slice(1));
    expect(await ids({ clientId: two.id }, 10)).toEqual([signed[2]?.id]);
    expect(await ids({ since: later(1), until: later(2) }, 10)).toEqual([signed[2]?.id]);
    expect(await ids({ certificate: 'unknown' }, 10)).toEqual([]);
  });

  test('renews a certificate only for the key its number stands for', async () => {
    expect(await store.certificates.renew({ ...certificate('1'), chain: 'new' })).toBe(true);
    expect(await store.certificates.renew({ ...certificate('1'), keyId: 'bb', chain: 'other' })).toBe(false);
    expect(await other.certificates.find('1')).toMatchObject({ keyId: 'aa', chain: 'new' });
    const request = { number: '2', keyId: 'cc', request: 'pem' };
    expect(await store.certificateRequests.add(request, NOW)).toBe(true);
    expect(await other.certificateRequests.add({ ...request, keyId: 'dd' }, NOW)).toBe(false);
    expect(await other.certificateRequests.list()).toEqual([request]);
    await store.certificateRequests.remove('2');
    expect(await other.certificateRequests.find('2')).toBeUndefined();
  });

  test('the first authority that is set stays', async () => {
    expect(await store.authority.get()).toBeUndefined();
    const first = { keyId: 'aa', certificate: 'one' };
    expect(await store.authority.set(first)).toEqual(first);
    expect(await other.authority.set({ keyId: 'bb', certificate: 'two' })).toEqual(first);
  });

  test('says whether it answers', async () => {
    await expect(store.check()).resolves.toBeUndefined();
  });
});

test('a database that does not answer is an error of its own, without the password', async () => {
  const opened = openPostgresStore('postgres://somebody:a-secret@127.0.0.1:1/none');
  await expect(opened).rejects.toMatchObject({ code: 'database-unusable', exitCode: 6 });
  await expect(opened).rejects.not.toThrow(/a-secret/);
});
