import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goodRequest, NUMBER, openApp, type TestApp } from '../support/in-process.ts';

let server: TestApp;
beforeAll(async () => {
  server = await openApp();
});
afterAll(() => server.close());

describe('a valid request', () => {
  test('records who requested what, before it is answered', async () => {
    const extra = { platform: 'linux', signing_filename: 'app.exe', signing_filesize: 4096 };
    const from = Date.now();
    const { body } = await server.sign({ ...goodRequest(), extra });
    const record = await server.data.store.records.find(body.data?.id ?? '');
    expect(record).toMatchObject({
      clientId: server.credentials.clientId,
      certificate: NUMBER,
      algorithm: 'SHA256',
      extra,
      counted: true,
      report: undefined,
    });
    expect(Buffer.from(record?.digest ?? []).equals(Buffer.alloc(32, 7))).toBe(true);
    expect(record?.signedAt.getTime()).toBeGreaterThanOrEqual(from);
    expect(record?.signedAt.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test('keeps an extra of 4 KiB, not counting members that it ignores', async () => {
    const extra = { hostname: 'x'.repeat(4096 - '{"hostname":""}'.length) };
    const { status, body } = await server.sign({ ...goodRequest(), extra: { ...extra, more: 'x'.repeat(5000) } });
    expect(status).toBe(200);
    expect((await server.data.store.records.find(body.data?.id ?? ''))?.extra).toEqual(extra);
  });

  test('leaves one line in the log, with neither digest, signature nor extra', async () => {
    const before = server.log().length;
    const request = {
      ...goodRequest(),
      digest: Buffer.alloc(32, 0xa5).toString('base64'),
      extra: { hostname: 'very-secret-host' },
    };
    const { body } = await server.sign(request);
    const lines = server.log().slice(before);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      operation: 'sign',
      outcome: 'signed',
      record: body.data?.id,
      certificate: NUMBER,
    });
    expect(server.logText()).not.toContain(request.digest);
    expect(server.logText()).not.toContain(Buffer.alloc(32, 0xa5).toString('hex'));
    expect(server.logText()).not.toContain(body.data?.signature);
    expect(server.logText()).not.toContain('very-secret-host');
  });
});

describe('rejects as a parameter error', () => {
  const refusals = async (request: unknown, reason: string) => {
    const before = await server.counted();
    const { status, body } = await server.sign(request);
    expect({ status, code: body.code, data: body.data }).toEqual({ status: 400, code: 400, data: null });
    expect(server.log().at(-1)).toMatchObject({ operation: 'sign', outcome: 'refused', reason });
    expect(await server.counted()).toBe(before);
  };

  // Each in an array of its own, since one that is an array would be treated as arguments.
  test.each([
    [[{ platform: 'linux' }]],
    [{ hostname: 'x'.repeat(4096) }],
    [{ hostname: 'ä'.repeat(2048) }],
    [{ hostname: 'x'.repeat(2048), revision: '\0'.repeat(400) }],
  ])('the extra %j', (extra) => refusals({ ...goodRequest(), extra }, 'extra'));
});

describe('restrictions that an operator sets for a client', () => {
  test('treats a certificate that is not allowed like an unknown one', async () => {
    const client = await server.addClient();
    await server.data.store.clients.change(client.accessKey, { certificates: ['1'] });
    const other = await server.sign(goodRequest(), client);
    const none = await server.sign({ ...goodRequest(), code: 'nobody' }, client);
    expect(other).toMatchObject({ status: 400, body: none.body });
    await server.data.store.clients.change(client.accessKey, { certificates: ['1', NUMBER] });
    expect((await server.sign(goodRequest(), client)).body.code).toBe(0);
  });

  test('an algorithm that is not allowed is rejected with 403, and counts nothing', async () => {
    const client = await server.addClient();
    await server.data.store.clients.change(client.accessKey, { algorithms: ['SHA384', 'SHA512'] });
    const { status, body } = await server.sign(goodRequest(), client);
    expect({ status, ...body }).toEqual({ status: 403, code: 403, message: expect.any(String), data: null });
    expect(server.log().at(-1)).toMatchObject({ operation: 'sign', outcome: 'refused', reason: 'not-allowed' });
    expect(await server.counted(client)).toBe(0);
    const digest = Buffer.alloc(64, 7).toString('base64');
    expect((await server.sign({ ...goodRequest(), digest, algorithm: 'SHA512' }, client)).body.code).toBe(0);
  });
});

test.each([
  ['not begun', -366],
  ['ended', 4 * 366],
])('a certificate outside its validity that has %s is not a valid one', async (_name, days) => {
  const now = () => new Date(Date.now() + days * 24 * 60 * 60 * 1000);
  await server.close();
  server = await openApp(() => ({ now }));
  const { body } = await server.sign(goodRequest());
  expect(body.code).toBe(400);
  expect(server.log().at(-1)).toMatchObject({ reason: 'code', certificate: NUMBER });
});
