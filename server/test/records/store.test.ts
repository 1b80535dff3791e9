/** The store's contract, held to each database. */

import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { folderForEach } from '../../../test/support/set-up.ts';
import { prepareTables } from '../../src/records/migrations.ts';
import { openPostgresStore } from '../../src/records/postgres.ts';
import type { RecordFilter } from '../../src/records/records.ts';
import type { SignatureRecord } from '../../src/records/rows.ts';
import { openSqliteStore } from '../../src/records/sqlite.ts';
import type { Store } from '../../src/records/store.ts';
import { operationAt } from '../support/operation.ts';
import { usePostgres } from '../support/postgres.ts';
import { allRecords } from '../support/records.ts';

const folder = folderForEach();
const postgres = await usePostgres();

const NOW = new Date('2030-01-01T00:00:00Z');
const later = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);
const DAY = 86_400_000;
const STAND_IN = { keyId: 'aa', chain: 'chain', notBefore: later(-DAY), notAfter: later(9 * DAY) };
const PATIENCE = { settling: 1000, ending: new AbortController().signal };

describe.each(['SQLite', 'PostgreSQL'])('%s', (name) => {
  let store: Store;
  /** A second server on the same database. With SQLite it is the same one: two in one process wait for each other's locks. */
  let other: Store;
  if (name === 'SQLite') {
    beforeEach(async () => {
      store = await openSqliteStore(folder.at('database.sqlite'), prepareTables('create'));
      other = store;
    });
    afterEach(() => store.close());
  } else {
    let url: string;
    beforeAll(async () => {
      url = await postgres.newDatabase();
      const open = () => openPostgresStore(url, prepareTables('create'));
      [store, other] = await Promise.all([open(), open()]); // both make the tables at once
    });
    beforeEach(async () => {
      await postgres.query(
        url,
        'truncate authorities, certificate_requests, certificates, client_months, clients, operations, records, viewers',
      );
    });
    afterAll(() => Promise.all([store.close(), other.close()]));
  }
  beforeEach(() => store.certificates.add(certificate('1'), NOW));

  const certificate = (number: string) => ({ number, ...STAND_IN });
  const newClient = async (quota: number | undefined) => {
    const id = randomUUID();
    const client = { id, accessKey: `AK-${id}`, name: 'builds', secretDigest: Buffer.alloc(32, 1), quota };
    const bounds = { certificates: ['1'], algorithms: ['SHA256'] as const, monthlyQuota: undefined };
    await store.clients.add({ ...client, ...bounds, expiresAt: later(9 * DAY) }, NOW);
    return client;
  };
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
  test('keeps the settings of a client, and changes only the given ones', async () => {
    const { accessKey, id } = await newClient(7);
    const expected = {
      ...{ id, accessKey, name: 'builds', signatures: 0, disabled: false, quota: 7 },
      ...{ certificates: ['1'], algorithms: ['SHA256'], expiresAt: later(9 * DAY), createdAt: NOW },
      ...{ secretDigest: Buffer.alloc(32, 1), previous: undefined, monthSignatures: 0, monthlyQuota: undefined },
    };
    expect(await other.clients.findByAccessKey(accessKey)).toEqual(expected);
    await other.clients.change(accessKey, { disabled: true });
    expect(await store.clients.findByAccessKey(accessKey)).toEqual({ ...expected, disabled: true });
    await store.clients.change(accessKey, { quota: undefined, monthlyQuota: 3 });
    expect(await other.clients.list()).toEqual([{ ...expected, disabled: true, quota: undefined, monthlyQuota: 3 }]);
  });

  test('replaces a secret, and keeps the previous one on request', async () => {
    const { accessKey } = await newClient(undefined);
    const secrets = async () => {
      const { secretDigest, previous } = (await other.clients.findByAccessKey(accessKey)) ?? expect.unreachable();
      return [secretDigest[0], previous?.digest[0], previous?.until];
    };
    await store.clients.rotate(accessKey, Buffer.alloc(32, 2), later(5));
    expect(await secrets()).toEqual([2, 1, later(5)]);
    await store.clients.rotate(accessKey, Buffer.alloc(32, 3), later(9));
    expect(await secrets()).toEqual([3, 2, later(9)]);
    await store.clients.rotate(accessKey, Buffer.alloc(32, 4), undefined);
    expect(await secrets()).toEqual([4, undefined, undefined]);
  });

  test('stores a change and its entry in the audit log, both or neither', async () => {
    const { accessKey } = await newClient(undefined);
    const [first, second] = [NOW, later(5)].map((at) => ({ ...operationAt(at, 'client change'), target: accessKey }));
    if (first === undefined || second === undefined) return expect.unreachable();
    await store.change(first, ({ clients }) => clients.change(accessKey, { name: 'changed' }));
    const failed = store.change(second, async ({ clients }) => {
      await clients.change(accessKey, { name: 'not kept' });
      throw new Error('as if it failed');
    });
    await expect(failed).rejects.toThrow('as if it failed');
    expect(await other.clients.findByAccessKey(accessKey)).toMatchObject({ name: 'changed' });
    await store.change(second, async () => {});
    const entries = [first, second].map(({ at, ...entry }) => ({ ...entry, at: at.toISOString() }));
    expect(await other.audit.list({})).toEqual(entries);
    expect(await other.audit.list({}, 1)).toEqual(entries.slice(1));
    expect(await other.audit.list({ since: NOW, until: later(5) })).toEqual(entries.slice(0, 1));
  });

  test('knows nothing by a name that no database can hold', async () => {
    expect(await store.clients.findByAccessKey('a\u0000')).toBeUndefined();
    expect(await store.certificates.find('1\u0000')).toBeUndefined();
    expect(await store.records.find('\u0000')).toBeUndefined();
    expect(await store.records.report('\u0000', 'x', 1, NOW)).toBeUndefined();
  });

  test('lists records in signing order, page by page, with filters', async () => {
    const [one, two] = [await newClient(undefined), await newClient(undefined)];
    const signed = [record(one.id), record(one.id), record(two.id, later(1)), record(one.id, later(2))];
    for (const entry of signed) expect(await store.counting.add(entry, PATIENCE)).toBe(true);
    const inOrder = signed
      .toSorted((a, b) => a.signedAt.getTime() - b.signedAt.getTime() || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
    const ids = async (filter: RecordFilter) => (await allRecords(other, filter)).map(({ id }) => id);
    expect(await ids({})).toEqual(inOrder);
    expect(await ids({ clientId: two.id })).toEqual([signed[2]?.id]);
    expect(await ids({ since: later(1), until: later(2) })).toEqual([signed[2]?.id]);
    expect(await ids({ certificate: 'unknown' })).toEqual([]);
  });

  test('keeps viewers apart from clients, and removes the named one', async () => {
    const client = await newClient(undefined);
    const viewer = {
      id: 'v',
      accessKey: 'VK',
      secretDigest: Buffer.alloc(32, 3),
      name: 'on call',
      expiresAt: later(5),
    };
    await store.viewers.add(viewer, NOW);
    expect(await other.viewers.findByAccessKey('VK')).toEqual({ ...viewer, createdAt: NOW });
    await store.viewers.add({ ...viewer, id: 'w', accessKey: 'VL', name: undefined, expiresAt: undefined }, later(1));
    expect((await other.viewers.list()).map(({ accessKey, name }) => [accessKey, name])).toEqual([
      ['VK', 'on call'],
      ['VL', undefined],
    ]);
    expect(await store.viewers.findByAccessKey(client.accessKey)).toBeUndefined();
    expect(await store.clients.findByAccessKey('VK')).toBeUndefined();
    expect(await store.viewers.findByAccessKey('V\u0000')).toBeUndefined();
    await store.viewers.remove('VK');
    await store.viewers.remove('VK');
    expect(await other.viewers.findByAccessKey('VK')).toBeUndefined();
  });

  test('returns records page by page, in either direction, without their signatures', async () => {
    const one = await newClient(undefined);
    const ids = ['r0', 'r1', 'r2', 'r3', 'r4'];
    for (const [index, id] of ids.entries()) {
      const entry = { ...record(one.id, later(index < 2 ? 0 : index)), id };
      expect(await store.counting.add(entry, PATIENCE)).toBe(true);
    }
    for (const order of ['oldest first', 'newest first'] as const) {
      const seen: SignatureRecord[] = [];
      for (const size of [2, 2, 2]) seen.push(...(await other.records.search({}, order, size, seen.at(-1))));
      expect(seen.every(({ signature }) => signature === undefined)).toBe(true);
      expect(seen.map(({ id }) => id)).toEqual(order === 'oldest first' ? ids : ids.toReversed());
    }
  });

  test('renews a certificate only for the key of its number', async () => {
    expect(await store.certificates.renew({ ...certificate('1'), chain: 'new' })).toBe(true);
    expect(await store.certificates.renew({ ...certificate('1'), keyId: 'bb', chain: 'other' })).toBe(false);
    expect(await other.certificates.find('1')).toMatchObject({ keyId: 'aa', chain: 'new' });
    const request = { number: '2', keyId: 'cc', request: 'pem' };
    await store.certificateRequests.add(request, NOW);
    await other.certificateRequests.add({ ...request, keyId: 'dd' }, NOW);
    expect(await other.certificateRequests.find(request.number)).toEqual(request);
    await store.certificateRequests.remove('2');
    expect(await other.certificateRequests.find('2')).toBeUndefined();
  });

  test('the first authority that is set stays', async () => {
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
