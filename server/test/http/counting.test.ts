import { afterEach, expect, test, vi } from 'vitest';
import { ServerError } from '../../src/errors.ts';
import { goodRequest, openApp, type TestApp } from '../support/in-process.ts';

let server: TestApp;
afterEach(() => server.close());

test('each client has a count of its own', async () => {
  server = await openApp();
  const other = await server.addClient();
  for (let index = 0; index < 3; index++) await server.sign(goodRequest());
  await server.sign(goodRequest(), other);
  expect([await server.counted(), await server.counted(other)]).toEqual([3, 1]);
});

test('concurrent calls are all counted', async () => {
  server = await openApp();
  await Promise.all(Array.from({ length: 50 }, () => server.sign(goodRequest())));
  expect(await server.counted()).toBe(50);
});

test('a failure of the HSM is an internal error that counts nothing and keeps no record', async () => {
  server = await openApp(({ keys }) => ({
    keys: {
      ...keys,
      async find(id) {
        const key = await keys.find(id);
        const sign = async () =>
          Promise.reject(new ServerError('hsm-failed', { operation: 'sign', reason: 'CKR_DEVICE_ERROR' }));
        return key && { ...key, sign };
      },
    },
  }));
  const answer = await server.sign(goodRequest());
  expect(answer.status).toBe(500);
  expect(answer.body).toEqual({ code: 500, message: 'internal error', data: null });
  expect(server.log().at(-1)).toMatchObject({ operation: 'sign', outcome: 'failed' });
  expect(await server.counted()).toBe(0);
});

test('a signature whose record cannot be stored does not leave the server', async () => {
  server = await openApp(({ store }) => ({
    store: { ...store, records: { ...store.records, add: async () => Promise.reject(new Error('disk full')) } },
  }));
  const answer = await server.sign(goodRequest());
  expect(answer).toMatchObject({ status: 500, body: { code: 500, data: null } });
  expect(await server.counted()).toBe(0);
});

test('a signature whose record was stored leaves the server, also where the answer of the database is lost', async () => {
  let away = 3;
  server = await openApp(({ store }) => ({
    store: {
      ...store,
      quota: {
        ...store.quota,
        release: async (lease) => (--away > 0 ? Promise.reject(new Error('away')) : await store.quota.release(lease)),
      },
      records: {
        ...store.records,
        async add(record, lease) {
          await store.records.add(record, lease);
          throw new Error('Connection terminated unexpectedly');
        },
      },
    },
  }));
  const { status, body } = await server.sign(goodRequest());
  expect({ status, away }).toEqual({ status: 200, away: 0 });
  const record = await server.data.store.records.find(body.data?.id ?? '');
  expect(record).toMatchObject({ counted: true });
  expect(Buffer.from(record?.signature ?? []).toString('base64')).toBe(body.data?.signature);
  expect(await server.counted()).toBe(1);
  expect(server.log()).toContainEqual(expect.objectContaining({ outcome: 'unsettled', record: body.data?.id }));
});

test('an answer that fails during a long outage of the database does not count afterwards', async () => {
  let away = true;
  server = await openApp(({ store }) => ({
    limits: { settling: 300 },
    store: {
      ...store,
      quota: {
        ...store.quota,
        release: async (lease) => (away ? Promise.reject(new Error('away')) : await store.quota.release(lease)),
      },
      records: {
        ...store.records,
        async add(record, lease) {
          await store.records.add(record, lease);
          throw new Error('Connection terminated unexpectedly');
        },
      },
    },
  }));
  expect(await server.sign(goodRequest())).toMatchObject({ status: 500, body: { data: null } });
  expect(await server.counted()).toBe(1);
  away = false;
  await vi.waitFor(async () => expect(await server.counted()).toBe(0), { timeout: 10_000 });
});

test('a count is taken back once, however often that is asked', async () => {
  server = await openApp();
  const { body } = await server.sign(goodRequest());
  await server.sign(goodRequest());
  const id = body.data?.id ?? '';
  await server.data.store.records.uncount(id);
  await server.data.store.records.uncount(id);
  expect(await server.counted()).toBe(1);
  expect(await server.data.store.records.find(id)).toMatchObject({ counted: false });
});

test('a failure of the HSM or of the database gives the place of the quota back immediately', async () => {
  server = await openApp(({ store }) => ({
    store: { ...store, records: { ...store.records, add: async () => Promise.reject(new Error('disk full')) } },
  }));
  await server.sign(goodRequest());
  const client = await server.data.store.clients.findByAccessKey(server.credentials.accessKey);
  expect(client).toMatchObject({ signatures: 0, reserved: 0 });
});

test('the call that would go over the quota is rejected with 403, before the HSM is asked, and counts nothing', async () => {
  let asked = 0;
  server = await openApp(({ keys }) => ({
    keys: {
      ...keys,
      async find(id) {
        asked += 1;
        return await keys.find(id);
      },
    },
  }));
  await server.data.store.clients.change(server.credentials.accessKey, { quota: 3 });
  const answers = await Promise.all(Array.from({ length: 10 }, () => server.sign(goodRequest())));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, ...Array(7).fill(403)]);
  expect(answers.find(({ status }) => status === 403)?.body).toEqual({
    code: 403,
    message: expect.any(String),
    data: null,
  });
  expect(server.log().at(-1)).toMatchObject({ operation: 'sign', outcome: 'signed' });
  expect(server.log()).toContainEqual(expect.objectContaining({ outcome: 'refused', reason: 'quota' }));
  expect(asked).toBe(3);
  expect(await server.counted()).toBe(3);
});

test('a call whose lease expired while its place went to another gets no signature', async () => {
  let later = 0;
  server = await openApp(({ keys, store }) => ({
    now: () => new Date(Date.now() + later),
    lease: 1000,
    keys: {
      ...keys,
      async find(id) {
        later = 2000; // the HSM takes that long, and meanwhile another call comes
        const other = { id: 'other', clientId: server.credentials.clientId, expiresAt: new Date(Date.now() + 60_000) };
        expect(await store.quota.reserve(other, new Date(Date.now() + later))).toBe(true);
        return await keys.find(id);
      },
    },
  }));
  await server.data.store.clients.change(server.credentials.accessKey, { quota: 1 });
  const answer = await server.sign(goodRequest());
  expect(answer).toMatchObject({ status: 403, body: { data: null } });
  expect(await server.counted()).toBe(0);
});

test('the record holds the signature that was given, and of paths in extra only the last part', async () => {
  server = await openApp();
  const given = ['C:\\Users\\someone\\app.exe', '/home/someone/app.jar', 'plain.exe'];
  for (const signing_filename of given) {
    const { body } = await server.sign({ ...goodRequest(), extra: { signing_filename, hostname: 'build' } });
    const record = await server.data.store.records.find(body.data?.id ?? '');
    expect(Buffer.from(record?.signature ?? []).toString('base64')).toBe(body.data?.signature);
    expect(record?.extra).toEqual({
      signing_filename: signing_filename.split(/[\\/]/).at(-1),
      hostname: 'build',
    });
  }
});
