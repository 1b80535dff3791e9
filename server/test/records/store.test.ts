/** The store's contract, held to each database. */

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../src/records/postgres.ts';
import { openSqliteStore } from '../../src/records/sqlite.ts';
import type { Lease, Position, RecordFilter, Store } from '../../src/records/store.ts';
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
const STAND_IN = { keyId: 'aa', chain: 'chain', notBefore: NOW, notAfter: later(1), disabled: false };

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

  const certificate = (number: string) => ({ number, ...STAND_IN });
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

  test('keeps what is said of a client, and changes only what is requested', async () => {
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

  test('keeps as many places as the quota has, whichever callers compete', async () => {
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
    const signed = { ...record(id), id: lease.id };
    expect(await store.records.add(signed, lease)).toBe(true);
    expect(await other.quota.release(lease)).toBe(false);
    expect(await places(accessKey)).toEqual({ signatures: 1, reserved: 0 });
    expect(await other.records.find(signed.id)).toEqual({ ...signed, counted: true, report: undefined });
    expect(await other.quota.reserve(leaseFor(id), later(10_000))).toBe(false);
  });

  test('gives a place back once, however often that is asked, and takes one that was released again', async () => {
    const { id, accessKey } = await newClient(2);
    const lease = leaseFor(id);
    await store.quota.reserve(lease, NOW);
    expect(await store.quota.release(lease)).toBe(true);
    expect(await other.quota.release(lease)).toBe(true);
    expect(await places(accessKey)).toEqual({ signatures: 0, reserved: 0 });
    expect(await store.records.add(record(id), lease)).toBe(true);
    expect(await places(accessKey)).toEqual({ signatures: 1, reserved: 0 });
  });

  test('gives an expired place to the next call, and then rejects the count of the one that was late', async () => {
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

  test('gives back immediately what expired for every client', async () => {
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

  test('a record that cannot be stored fails its own call, and none of those that are served with it', async () => {
    const { id, accessKey } = await newClient(undefined);
    const leases = Array.from({ length: 5 }, () => leaseFor(id));
    await Promise.all(leases.map((lease) => store.quota.reserve(lease, NOW)));
    const stored = leases.map((lease, index) =>
      store.records.add({ ...record(id), ...(index === 2 && { certificate: 'unknown' }) }, lease),
    );
    const results = await Promise.allSettled(stored);
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, true]);
    expect(await places(accessKey)).toEqual({ signatures: 4, reserved: 1 });
  });

  test('concurrent calls of several clients, at each of the steps, keep to each one’s quota', async () => {
    const clients = [await newClient(4), await newClient(2), await newClient(undefined)];
    const held = clients.map(({ id }) => leaseFor(id));
    await Promise.all(held.map((lease) => store.quota.reserve(lease, NOW)));
    await store.quota.giveBackExpired(later(2000)); // so that none of them is there any more
    const again = await Promise.all(clients.map(({ id }) => store.quota.reserve(leaseFor(id, later(9000)), NOW)));
    expect(again).toEqual([true, true, true]);
    const late = held.map((lease, index) => store.records.add(record(clients[index]?.id ?? ''), lease));
    const reserved = clients.map(({ id }) =>
      Promise.all(Array.from({ length: 5 }, () => store.quota.reserve(leaseFor(id, later(9000)), NOW))),
    );
    expect(await Promise.all(late)).toEqual([true, true, true]);
    expect((await Promise.all(reserved)).map((kept) => kept.filter(Boolean).length)).toEqual([2, 0, 5]);
    expect(await Promise.all(clients.map(({ accessKey }) => places(accessKey)))).toEqual([
      { signatures: 1, reserved: 3 },
      { signatures: 1, reserved: 1 },
      { signatures: 1, reserved: 6 },
    ]);
  });

  test('a quota that was set below what is used up still lets calls under way finish', async () => {
    const { id, accessKey } = await newClient(5);
    const lease = leaseFor(id);
    await store.quota.reserve(lease, NOW);
    await store.clients.change(accessKey, { quota: 0 });
    expect(await store.records.add(record(id), lease)).toBe(true);
    expect(await store.quota.reserve(leaseFor(id), NOW)).toBe(false);
    expect(await places(accessKey)).toEqual({ signatures: 1, reserved: 0 });
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

  test('lists records in the order of signing, page by page, and by what is requested', async () => {
    const [one, two] = [await newClient(undefined), await newClient(undefined)];
    const signed = [record(one.id), record(one.id), record(two.id, later(1)), record(one.id, later(2))];
    for (const entry of signed) await store.records.add(entry, leaseFor(entry.clientId));
    const inOrder = signed
      .toSorted((a, b) => a.signedAt.getTime() - b.signedAt.getTime() || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
    const ids = async (filter: RecordFilter, after?: Position) => {
      const { records } = await other.records.search(filter, { order: 'oldest first', size: 10, after });
      return records.map(({ id }) => id);
    };
    expect(await ids({})).toEqual(inOrder);
    const { next } = await other.records.search({}, { order: 'oldest first', size: 1 });
    expect(await ids({}, next)).toEqual(inOrder.slice(1));
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
    expect(await store.viewers.remove('V\u0000')).toBe(false);
    expect(await store.viewers.remove('VK')).toBe(true);
    expect(await store.viewers.remove('VK')).toBe(false);
    expect(await other.viewers.findByAccessKey('VK')).toBeUndefined();
  });

  describe('a search', () => {
    const NAMES = ['one.exe', 'Two.EXE', 'C:\\in\\three_100%.exe', 'gr\u00d6\u00dfe\u202e.jar', undefined];
    let ids: string[];
    let clientIds: string[];
    beforeEach(async () => {
      const [one, two] = [await newClient(undefined), await newClient(undefined)];
      clientIds = [one.id, two.id];
      ids = [];
      for (const [index, name] of NAMES.entries()) {
        const client = index === 1 ? two : one;
        const extra = { ...(name !== undefined && { signing_filename: name }), hostname: 'a\u0000one' };
        const signed = { ...record(client.id, later(index < 2 ? 0 : index)), id: `r${index}`, extra };
        await store.records.add(signed, leaseFor(client.id));
        ids.push(signed.id);
      }
      await store.records.report('r1', two.id, 1, NOW);
      await store.records.report('r2', one.id, 2, NOW);
    });
    const found = async (filter: Parameters<Store['records']['search']>[0], size = 10) => {
      const { records, next } = await other.records.search(filter, { order: 'oldest first', size });
      expect(records.every(({ signature }) => signature === undefined)).toBe(true);
      return [records.map(({ id }) => id), next?.id];
    };

    test('finds by each thing that is requested', async () => {
      expect(await found({})).toEqual([ids, undefined]);
      expect(await found({ clientId: clientIds[1] })).toEqual([['r1'], undefined]);
      expect(await found({ report: 1 })).toEqual([['r1'], undefined]);
      expect(await found({ report: 2 })).toEqual([['r2'], undefined]);
      expect(await found({ report: 'none' })).toEqual([['r0', 'r3', 'r4'], undefined]);
      expect(await found({ certificate: '2' })).toEqual([[], undefined]);
      expect(await found({ since: later(2), until: later(4) })).toEqual([['r2', 'r3'], undefined]);
      expect(await found({ file: 'EXE' })).toEqual([['r0', 'r1', 'r2'], undefined]);
      expect(await found({ file: 'one' })).toEqual([['r0'], undefined]);
      expect(await found({ file: 'e_1' })).toEqual([['r2'], undefined]);
      expect(await found({ file: '0%' })).toEqual([['r2'], undefined]);
      expect(await found({ file: 'in' })).toEqual([[], undefined]);
      expect(await found({ file: 'GR\u00f6\u00dfe\\U202E' })).toEqual([['r3'], undefined]);
      expect(await found({ file: 'exe', report: 1, clientId: clientIds[1] })).toEqual([['r1'], undefined]);
    });

    test('looks at no more than it must, and continues from there in either direction', async () => {
      expect(await found({ file: 'jar' }, 2)).toEqual([[], 'r1']);
      for (const order of ['oldest first', 'newest first'] as const) {
        const inOrder = order === 'oldest first' ? ids : ids.toReversed();
        let after: Awaited<ReturnType<typeof store.records.search>>['next'];
        const seen: string[][] = [];
        do {
          const batch = await other.records.search({}, { order, size: 2, after });
          seen.push(batch.records.map(({ id }) => id));
          after = batch.next;
        } while (after !== undefined);
        expect(seen).toEqual([inOrder.slice(0, 2), inOrder.slice(2, 4), inOrder.slice(4)]);
      }
    });
  });

  test('adds up days by what became of their signatures', async () => {
    const { id } = await newClient(undefined);
    const DAY = 86_400_000;
    const signed = [-1, 0, DAY - 1, DAY, DAY, 3 * DAY].map((offset) => record(id, later(offset)));
    for (const entry of signed) await store.records.add(entry, leaseFor(id));
    await store.records.report(signed[1]?.id ?? '', id, 1, NOW);
    await store.records.report(signed[3]?.id ?? '', id, 2, NOW);
    await store.records.uncount(signed[4]?.id ?? '');
    const counts = await other.records.perDay(NOW, later(3 * DAY));
    const inOrder = counts.toSorted(
      (a, b) => a.day.localeCompare(b.day) || Number(a.report ?? 0) - Number(b.report ?? 0),
    );
    expect(inOrder).toEqual([
      { day: '2030-01-01', counted: true, report: undefined, signatures: 1 },
      { day: '2030-01-01', counted: true, report: 1, signatures: 1 },
      { day: '2030-01-02', counted: false, report: undefined, signatures: 1 },
      { day: '2030-01-02', counted: true, report: 2, signatures: 1 },
    ]);
    expect(await other.records.perDay(later(10 * DAY), later(11 * DAY))).toEqual([]);
  });

  test('renews a certificate only for the key its number stands for', async () => {
    expect(await store.certificates.renew({ ...certificate('1'), chain: 'new' })).toBe(true);
    expect(await store.certificates.renew({ ...certificate('1'), keyId: 'bb', chain: 'other' })).toBe(false);
    expect(await other.certificates.find('1')).toMatchObject({ keyId: 'aa', chain: 'new' });
    const request = { number: '2', keyId: 'cc', request: 'pem' };
    expect(await store.certificateRequests.add(request, NOW)).toBe(true);
    expect(await other.certificateRequests.add({ ...request, keyId: 'dd' }, NOW)).toBe(false);
    expect(await other.certificateRequests.find(request.number)).toEqual(request);
    await store.certificateRequests.remove('2');
    expect(await other.certificateRequests.find('2')).toBeUndefined();
  });

  test('the first authority that is set stays', async () => {
    expect(await store.authorities.get('code-signing')).toBeUndefined();
    const first = { keyId: 'aa', chain: 'one' };
    expect(await store.authorities.replace('code-signing', undefined, first)).toEqual(first);
    expect(await other.authorities.replace('code-signing', undefined, { keyId: 'bb', chain: 'two' })).toEqual(first);
    expect(await other.authorities.get('time-stamping')).toBeUndefined();
  });

  test('says whether it answers', async () => {
    await expect(store.check()).resolves.toBeUndefined();
  });
});

describe('PostgreSQL, restarted or at the end of a quota', () => {
  let url: string;
  let store: Store;
  beforeEach(async () => {
    url = postgres.newDatabase();
    store = await openPostgresStore(url);
    await store.certificates.add({ ...STAND_IN, number: '1' }, NOW);
  });
  afterEach(() => store.close());
  const newClient = async (quota: number | undefined) => {
    const id = randomUUID();
    const restrictions = { certificates: undefined, algorithms: undefined, expiresAt: undefined, name: undefined };
    await store.clients.add(
      { id, accessKey: `AK-${id}`, secretDigest: Buffer.alloc(32, 1), quota, ...restrictions },
      NOW,
    );
    return { id, accessKey: `AK-${id}` };
  };
  const leaseFor = (clientId: string, expiresAt = later(1000)): Lease => ({ id: randomUUID(), clientId, expiresAt });

  test('keeps the process alive when connections break that are in use, and works on afterwards', async () => {
    const { id } = await newClient(undefined);
    let restarted = false;
    let failed = 0;
    const caller = async () => {
      while (!restarted) {
        const lease = leaseFor(id);
        const calls = [
          store.quota.reserve(lease, NOW),
          store.quota.release(lease),
          store.records.report('x', id, 1, NOW),
        ];
        for (const { status } of await Promise.allSettled(calls)) failed += Number(status === 'rejected');
      }
    };
    const callers = Promise.all(Array.from({ length: 20 }, caller));
    await postgres.restart();
    restarted = true;
    await callers;
    expect(failed).toBeGreaterThan(0);
    await store.check();
    expect(await store.quota.reserve(leaseFor(id), NOW)).toBe(true);
  });

  test('writes no error to the log of PostgreSQL when it rejects a call, or lets one through at the end of a quota', async () => {
    const before = postgres.log().length;
    const [usedUp, nearly, late] = [await newClient(0), await newClient(3), await newClient(1)];
    const ask = (clientId: string, calls: number, now = NOW) =>
      Promise.all(Array.from({ length: calls }, () => store.quota.reserve(leaseFor(clientId, later(9000)), now)));
    const answers = await Promise.all([ask(usedUp.id, 5), ask(nearly.id, 5)]);
    expect(answers.map((places) => places.filter(Boolean).length)).toEqual([0, 3]);

    const [first, next] = [leaseFor(late.id), leaseFor(late.id, later(9000))];
    expect(await store.quota.reserve(first, NOW)).toBe(true);
    expect(await ask(late.id, 2)).toEqual([false, false]);
    expect(await store.quota.reserve(next, later(1000))).toBe(true); // in the place of the first, which expired
    const signed = { clientId: late.id, certificate: '1', algorithm: 'SHA256' as const, digest: Buffer.alloc(32) };
    const record = { ...signed, extra: undefined, signature: Buffer.alloc(1), signedAt: NOW };
    expect(await store.records.add({ ...record, id: first.id }, first)).toBe(false);
    expect(await store.records.add({ ...record, id: next.id }, next)).toBe(true);
    expect(postgres.log().slice(before)).not.toMatch(/ERROR|FATAL|STATEMENT/);
  });
});

test('a database that does not answer is an error of its own, without the password', async () => {
  const opened = openPostgresStore('postgres://somebody:a-secret@127.0.0.1:1/none');
  await expect(opened).rejects.toMatchObject({ code: 'database-unusable', exitCode: 6 });
  await expect(opened).rejects.not.toThrow(/a-secret/);
});
