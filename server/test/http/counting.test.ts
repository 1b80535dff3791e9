import pkcs11 from 'pkcs11js';
import { afterEach, expect, test, vi } from 'vitest';
import { ServerError } from '../../src/errors.ts';
import type { KeyStore, SigningKey } from '../../src/keys/pkcs11.ts';
import { OutcomeUnknown } from '../../src/records/counting.ts';
import type { Store } from '../../src/records/store.ts';
import { goodRequest, NUMBER, openApp, type TestApp } from '../support/in-process.ts';

let server: TestApp;
afterEach(async () => {
  vi.restoreAllMocks();
  await server.close();
});

const diskFull = () => Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });

/** Keys that do something before each signature. */
function beforeSigning(keys: KeyStore, work: () => unknown): KeyStore {
  const find = async (id: string) => {
    const key = await keys.find(id);
    const sign: SigningKey['sign'] = async (...args) => {
      await work();
      return await key.sign(...args);
    };
    return { ...key, sign };
  };
  return { ...keys, find };
}

const withCounting = (store: Store, counting: Partial<Store['counting']>): Store => ({
  ...{ ...store, counting: { ...store.counting, ...counting } },
});

/** Values of the metric, by reason. */
async function thrownAway(): Promise<Readonly<Record<string, number>>> {
  const { body } = await server.app.inject({ method: 'GET', url: '/metrics' });
  const lines = body.matchAll(/^codesign_signatures_thrown_away_total\{reason="(.*)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, reason, count]) => [reason, Number(count)]));
}

async function expectFailure(status: 500 | 503, message: string, code?: string) {
  const answer = await server.sign(goodRequest());
  expect(answer).toMatchObject({
    status,
    body: { code: status, message: expect.stringContaining(message), data: null },
  });
  expect(answer.headers['retry-after']).toBe(status === 503 ? '5' : undefined);
  const err = code === undefined ? {} : { err: { code } };
  expect(server.log().at(-1)).toMatchObject({ operation: 'sign', outcome: 'failed', status, ...err });
  expect(await server.counted()).toBe(0);
}

/** Answers of the HSM that are no signature of the digest, by what they are. */
const faultySignatures: readonly (readonly [string, (good: Buffer) => Buffer])[] = [
  ['one bit is wrong', (good) => Buffer.concat([good.subarray(0, -1), Buffer.of((good.at(-1) ?? 0) ^ 1)])],
  ['it is empty', () => Buffer.alloc(0)],
];

test.each(faultySignatures)('a signature is neither returned nor counted where %s', async (_name, fault) => {
  const real = pkcs11.PKCS11;
  let isFaulty = false;
  vi.spyOn(pkcs11, 'PKCS11').mockImplementation(function faultyLibrary() {
    const library = new real();
    const sign = library.C_SignAsync;
    return Object.assign(library, {
      async C_SignAsync(...args: Parameters<typeof sign>) {
        const signature = await sign.apply(library, args);
        return isFaulty ? fault(signature) : signature;
      },
    });
  });
  server = await openApp();
  isFaulty = true;
  await expectFailure(503, 'no signature was counted', 'hsm-signature-wrong');
  isFaulty = false;
  expect((await server.sign(goodRequest())).status).toBe(200);
});

test('a signature by a key other than that of the certificate is neither returned nor counted', async () => {
  server = await openApp(({ store }) => {
    const find: Store['certificates']['find'] = async (number) => {
      const [own, other] = [await store.certificates.find(number), await store.certificates.find('1')];
      return own && other && { ...own, chain: other.chain };
    };
    return { store: { ...store, certificates: { ...store.certificates, find } } };
  });
  await expectFailure(503, 'no signature was counted', 'hsm-signature-wrong');
});

test.each([
  [503, 'no signature was counted', new ServerError('hsm-failed', { operation: 'sign', reason: 'CKR_DEVICE_ERROR' })],
  [500, 'internal error', new TypeError('cannot read properties of undefined')],
] as const)('answers %i without a count if the HSM cannot sign', async (status, message, error) => {
  server = await openApp(({ keys }) => ({ keys: beforeSigning(keys, () => Promise.reject(error)) }));
  await expectFailure(status, message);
});

test('a signature whose record cannot be stored does not leave the server', async () => {
  server = await openApp(({ store }) => ({ store: withCounting(store, { add: () => Promise.reject(diskFull()) }) }));
  await expectFailure(503, 'no signature was counted');
  expect(await thrownAway()).toEqual({ failed: 1 });
});

test('an answer that fails during a long outage of the database is not counted afterwards', async () => {
  let away = true;
  server = await openApp(({ store }) => ({
    store: withCounting(store, {
      async add(record, patience) {
        await store.counting.add(record, patience);
        throw new OutcomeUnknown(new Error('Connection terminated unexpectedly'));
      },
      async takeBack(record, patience) {
        await vi.waitUntil(() => !away, 20_000);
        await store.counting.takeBack(record, patience);
      },
    }),
  }));
  expect(await server.sign(goodRequest())).toMatchObject({ status: 500, body: { data: null } });
  expect(server.log()).toContainEqual(expect.objectContaining({ outcome: 'unsettled', record: expect.any(String) }));
  expect(await server.counted()).toBe(1);
  away = false;
  await vi.waitFor(async () => expect(await server.counted()).toBe(0), { timeout: 10_000 });
});

test('calls beyond the quota are rejected with 403 and count nothing, however many come concurrently', async () => {
  let asked = 0;
  server = await openApp(({ keys }) => ({ keys: beforeSigning(keys, () => asked++) }));
  await server.data.store.clients.change(server.credentials.accessKey, { quota: 3 });
  const answers = await Promise.all(Array.from({ length: 10 }, () => server.sign(goodRequest())));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, ...Array(7).fill(403)]);
  expect(answers.find(({ status }) => status === 403)?.body).toMatchObject({ code: 403, data: null });
  expect(server.log()).toContainEqual(expect.objectContaining({ outcome: 'refused', reason: 'quota' }));
  expect(await server.counted()).toBe(3);
  expect((await thrownAway()).refused ?? 0).toBe(asked - 3);
  const before = asked;
  expect((await server.sign(goodRequest())).status).toBe(403);
  expect(asked).toBe(before); // the HSM is not asked for what can be known before
});

test('a call that waited for the HSM is not signed if the quota was used up meanwhile', async () => {
  let asked = 0;
  server = await openApp(({ keys }) => ({ sessions: 1, keys: beforeSigning(keys, () => asked++) }));
  await server.data.store.clients.change(server.credentials.accessKey, { quota: 1 });
  const answers = await Promise.all(Array.from({ length: 10 }, () => server.sign(goodRequest())));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(asked).toBeLessThan(5); // those that began before the first one was counted
});

const CHANGES: readonly (readonly [string, number, (store: Store, accessKey: string) => Promise<unknown>])[] = [
  ['the client is disabled', 401, ({ clients }, key) => clients.change(key, { disabled: true })],
  ['the client expires', 401, ({ clients }, key) => clients.change(key, { expiresAt: new Date(0) })],
  ['the certificate is disabled', 400, ({ certificates }) => certificates.disable(NUMBER, true)],
  ['the client may not use the algorithm', 403, ({ clients }, key) => clients.change(key, { algorithms: [] })],
  ['the quota is lowered', 403, ({ clients }, key) => clients.change(key, { quota: 0 })],
];
test.each(CHANGES)('while the HSM signs, %s: the answer is %i, and nothing counts', async (_name, status, change) => {
  server = await openApp(({ keys, store }) => ({
    keys: beforeSigning(keys, () => change(store, server.credentials.accessKey)),
  }));
  expect(await server.sign(goodRequest())).toMatchObject({ status, body: { code: status, data: null } });
  expect(await server.counted()).toBe(0);
  expect(await thrownAway()).toEqual({ refused: 1 });
});

test('while transactions fail, the HSM signs for one call at a time, and waits for each to be settled', async () => {
  let [underWay, most] = [0, 0];
  server = await openApp(({ keys, store }) => ({
    keys: beforeSigning(keys, () => {
      underWay += 1;
      most = Math.max(most, underWay);
    }),
    store: withCounting(store, {
      isFailing: () => true,
      async add() {
        await new Promise((resolve) => setTimeout(resolve, 10));
        underWay -= 1;
        throw diskFull();
      },
    }),
  }));
  const answers = await Promise.all(Array.from({ length: 6 }, () => server.sign(goodRequest())));
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(503));
  expect(most).toBe(1);
});
