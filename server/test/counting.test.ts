import { afterEach, expect, test } from 'vitest';
import { serverError } from '../src/errors.ts';
import { goodRequest, openApp, type TestApp } from './support/in-process.ts';

let server: TestApp;
afterEach(() => server.close());

test('each client has a count of its own', async () => {
  server = await openApp();
  const other = await server.addClient();
  for (let index = 0; index < 3; index++) await server.sign(goodRequest());
  await server.sign(goodRequest(), other);
  expect([await server.counted(), await server.counted(other)]).toEqual([3, 1]);
});

test('calls at once are all counted', async () => {
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
          Promise.reject(serverError('hsm-failed', { operation: 'sign', reason: 'CKR_DEVICE_ERROR' }));
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

test('a record that names a client who is not there is neither stored nor counted', async () => {
  server = await openApp();
  const { records } = server.data.store;
  const record = {
    id: 'record',
    clientId: 'nobody',
    certificate: goodRequest().code,
    algorithm: 'SHA256',
    digest: Buffer.alloc(32),
    extra: undefined,
    signedAt: new Date(),
  } as const;
  await expect(records.add(record)).rejects.toThrow(/FOREIGN KEY/);
  expect(await records.find('record')).toBeUndefined();
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
