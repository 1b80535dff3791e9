import { describe, expect, test } from 'vitest';
import { REPORT_PATH, SIGN_PATH } from '../../../src/service/messages.ts';
import { forAll } from '../../../test/support/set-up.ts';
import { BODY_LIMIT } from '../../src/http/app.ts';
import { basic, goodRequest, NUMBER, openApp } from '../support/in-process.ts';
import { addViewer } from '../support/page-scene.ts';

// More paths, methods, content types and bodies: server/conformance/suite.test.ts.
const server = await forAll(openApp());

const headers = (more: Readonly<Record<string, string>> = {}) => ({
  ...{ authorization: basic(server.credentials), 'content-type': 'application/json', ...more },
});
const refusal = (code: number) => ({ code, message: expect.any(String), data: null });
const post = (payload: string | Buffer, more = {}, path = SIGN_PATH) =>
  server.call({ path, headers: headers(more), payload });

test('answers 404 for an unknown path and 405 for another method, also without credentials', async () => {
  for (const path of ['/v1/codesign', `${SIGN_PATH}/`, '/V1/codesign/sign', '/v1//codesign/sign']) {
    expect(await server.call({ path, payload: '{}' })).toMatchObject({ status: 404, body: refusal(404) });
    expect(server.log().at(-1)).toMatchObject({ outcome: 'refused', reason: 'http', status: 404 });
  }
  const answer = await server.call({ method: 'OPTIONS', path: REPORT_PATH });
  expect(answer).toMatchObject({ status: 405, body: refusal(405), headers: { allow: 'POST' } });
  expect(await post('{}', {}, '/%E0%A4%A')).toMatchObject({ status: 400, body: refusal(400) });
});

test('ignores X-Forwarded-For without a proxy in the configuration', async () => {
  await server.call({ headers: { 'x-forwarded-for': '203.0.113.7' } });
  expect(server.log().at(-1)).toMatchObject({ failure: 'no-credentials', remoteAddress: '127.0.0.1' });
});

test.each([
  [415, 'is no JSON by its type', '{}', { 'content-type': 'application/jsonx' }, /content type/],
  ...['GZIP', 'identity, gzip', ''].map(
    (coding) => [415, `has the coding "${coding}"`, '{}', { 'content-encoding': coding }, /Content-Encoding/] as const,
  ),
  [400, 'has a member twice in extra', '{"code":"1","extra":{"time":"","time":""}}', {}, /duplicate member$/],
  [400, 'has a member twice in an array', '{"a":[{"b":1},{"b":1,"c":"{}","b":2}]}', {}, /duplicate member$/],
  [400, 'has an escaped member twice', '{"code":"1","c\\u006fde":"2"}', {}, /duplicate member$/],
  [400, 'has spaces before a colon', '{"a\\"":1,"a\\"" \n:2}', {}, /duplicate member$/],
  [400, 'is no JSON', '{"code":', {}, /UTF-8$/],
  [400, 'is no UTF-8', Buffer.from([0x22, 0xc3, 0x22]), {}, /UTF-8$/],
] as const)('answers %i to a body that %s, and quotes nothing of it', async (status, _name, payload, more, message) => {
  for (const path of [SIGN_PATH, REPORT_PATH]) {
    const answer = await post(payload, more, path);
    expect(answer).toMatchObject({ status, body: refusal(status) });
    expect(answer.body.message).toMatch(message);
    expect(answer.body.message).not.toContain(payload.toString());
    expect(server.log().at(-1)).toMatchObject({ outcome: 'refused', reason: 'http', status });
  }
});

test('answers 413 to a body beyond the limit, and accepts one at the limit', async () => {
  const payloadOf = (size: number) => JSON.stringify({ padding: 'x'.repeat(size - '{"padding":""}'.length) });
  expect(await post(payloadOf(BODY_LIMIT + 1))).toMatchObject({ status: 413, body: refusal(413) });
  expect((await post(payloadOf(BODY_LIMIT))).status).toBe(400);
});

test('takes a body with the content encoding Identity, and members twice that are text or in other objects', async () => {
  const payload = JSON.stringify({ text: '{"a":1,"a":2}', more: [{ text: 1 }, { text: 2 }], ...goodRequest() });
  expect((await post(payload, { 'content-encoding': 'Identity' })).body.code).toBe(0);
});

describe('the chain of a certificate', () => {
  const chain = (
    number: string,
    by: Parameters<typeof basic>[0] = server.credentials,
    method: 'GET' | 'POST' = 'GET',
  ) => server.app.inject({ method, url: `/certificates/${number}.pem`, headers: { authorization: basic(by) } });

  test('is PEM with the leaf first, also of a disabled certificate', async () => {
    const { chain: stored } = (await server.data.store.certificates.find(NUMBER)) ?? {};
    const answer = await chain(NUMBER);
    expect(answer).toMatchObject({ statusCode: 200, body: stored });
    expect(answer.headers['content-type']).toBe('application/pem-certificate-chain');
    expect(server.log().at(-1)).toMatchObject({ operation: 'certificate', outcome: 'shown', certificate: NUMBER });
    await server.data.store.certificates.disable(NUMBER, true);
    expect((await chain(NUMBER)).body).toBe(stored);
    await server.data.store.certificates.disable(NUMBER, false);
  });

  test('is only found by clients that may use the certificate', async () => {
    const { store } = server.data;
    const viewer = await addViewer(store);
    const restricted = await server.addClient();
    await store.clients.change(restricted.accessKey, { certificates: ['1'] });
    expect((await chain('1', restricted)).statusCode).toBe(200);
    const answers = [await chain(NUMBER, restricted), await chain('nothing'), await chain('%00'), await chain('')];
    for (const { statusCode, body } of answers) expect([statusCode, JSON.parse(body)]).toEqual([404, refusal(404)]);
    for (const by of [viewer, { ...restricted, accessSecret: 'wrong' }]) {
      expect(await chain(NUMBER, by)).toMatchObject({ statusCode: 401, body: expect.stringContaining('"code":401') });
    }
    const posted = await chain(NUMBER, restricted, 'POST');
    expect(posted).toMatchObject({ statusCode: 405, headers: { allow: 'GET, HEAD' } });
  });
});

test.each(['__proto__', 'constructor', 'prototype', 'unknown'])(
  'ignores a member named %s, in a request and in extra',
  async (name) => {
    const member = `"${name}":${JSON.stringify({ prototype: { code: '1' }, code: '1' })}`;
    const answer = await post(`{${member},"extra":{${member}},${JSON.stringify(goodRequest()).slice(1)}`);
    expect(answer.body.code).toBe(0);
    const report = `{${member},"id":"${answer.body.data?.id}","status":1}`;
    expect((await post(report, {}, REPORT_PATH)).body.code).toBe(0);
  },
);
