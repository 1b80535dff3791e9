import { expect, test } from 'vitest';
import { forAll } from '../../../test/support/set-up.ts';
import { goodRequest, NUMBER, openApp } from '../support/in-process.ts';

/** How far the server's clock is ahead. */
let days = 0;
const server = await forAll(openApp(() => ({ now: () => new Date(Date.now() + days * 24 * 60 * 60 * 1000) })));
const { records } = server.data.store;

test('records who got which signature for what, without folders, and logs one line without digest, signature and extra', async () => {
  const extra = { platform: 'linux', signing_filesize: 4096, hostname: 'very-secret-host' };
  const [from, before] = [Date.now(), server.log().length];
  const request = {
    ...goodRequest(),
    digest: Buffer.alloc(32, 0xa5).toString('base64'),
    extra: { ...extra, signing_filename: 'C:\\Users\\me\\app.exe' },
  };
  const { body } = await server.sign(request);
  const record = await records.find(body.data?.id ?? '');
  expect(record).toMatchObject({
    ...{ clientId: server.credentials.id, certificate: NUMBER, algorithm: 'SHA256' },
    extra: { ...extra, signing_filename: 'app.exe' },
    ...{ counted: true, report: undefined, digest: Buffer.alloc(32, 0xa5) },
  });
  expect(Buffer.from(record?.signature ?? []).toString('base64')).toBe(body.data?.signature);
  expect(record?.signedAt.getTime()).toBeGreaterThanOrEqual(from);
  expect(record?.signedAt.getTime()).toBeLessThanOrEqual(Date.now());
  const line = { operation: 'sign', outcome: 'signed', record: body.data?.id, certificate: NUMBER };
  expect(server.log().slice(before)).toMatchObject([line]);
  for (const hidden of [request.digest, 'a5'.repeat(32), body.data?.signature, 'very-secret-host']) {
    expect(server.logText()).not.toContain(hidden);
  }
});

test('keeps an extra of 4 KiB, not counting members that it ignores', async () => {
  const extra = { hostname: 'x'.repeat(4096 - '{"hostname":""}'.length) };
  const { status, body } = await server.sign({ ...goodRequest(), extra: { ...extra, more: 'x'.repeat(5000) } });
  expect(status).toBe(200);
  expect((await records.find(body.data?.id ?? ''))?.extra).toEqual(extra);
});

test.each([
  [{ hostname: 'x'.repeat(4096) }],
  [{ hostname: 'ä'.repeat(2048) }],
  [{ hostname: 'x'.repeat(2048), revision: '\0'.repeat(400) }],
])('rejects the extra %j as a parameter error', async (extra) => {
  const before = await server.counted();
  const { status, body } = await server.sign({ ...goodRequest(), extra });
  expect({ status, code: body.code, data: body.data }).toEqual({ status: 400, code: 400, data: null });
  expect(server.log().at(-1)).toMatchObject({ operation: 'sign', outcome: 'refused', reason: 'extra' });
  expect(await server.counted()).toBe(before);
});

test.each([
  ['not begun', -366],
  ['ended', 4 * 366],
])('a certificate outside its validity that has %s is not a valid one', async (_name, ahead) => {
  days = ahead;
  const { body } = await server.sign(goodRequest());
  days = 0;
  expect(body.code).toBe(400);
  expect(server.log().at(-1)).toMatchObject({ reason: 'code', certificate: NUMBER });
});
