import { describe, expect, test } from 'vitest';
import { REPORT_PATH, SIGN_PATH } from '../../../src/service/messages.ts';
import { forAll } from '../../../test/support/set-up.ts';
import { BODY_LIMIT } from '../../src/http/app.ts';
import { basic, goodRequest, NUMBER, openApp } from '../support/in-process.ts';
import { addViewer } from '../support/page-scene.ts';

const server = await forAll(openApp());

const headers = (more: Readonly<Record<string, string>> = {}) => ({
  authorization: basic(server.credentials),
  'content-type': 'application/json',
  ...more,
});
const refusal = (code: number) => ({ code, message: expect.any(String), data: null });

test.each(['/v1/codesign', `${SIGN_PATH}/`, '/V1/codesign/sign', '/v1//codesign/sign'])(
  'answers 404 for %s for every caller and every body',
  async (path) => {
    for (const payload of ['{', JSON.stringify(goodRequest())]) {
      const answer = await server.call({ path, headers: headers(), payload });
      expect(answer).toMatchObject({ status: 404, body: refusal(404) });
      expect(server.log().at(-1)).toMatchObject({ outcome: 'refused', reason: 'http', status: 404 });
      expect((await server.call({ path, payload })).status).toBe(404);
    }
  },
);

test('ignores X-Forwarded-For without a proxy in the configuration', async () => {
  await server.call({ headers: { 'x-forwarded-for': '203.0.113.7' } });
  expect(server.log().at(-1)).toMatchObject({ failure: 'no-credentials', remoteAddress: '127.0.0.1' });
});

test('answers an address that cannot be parsed with an envelope', async () => {
  const answer = await server.call({ path: '/%E0%A4%A', headers: headers(), payload: '{}' });
  expect(answer).toMatchObject({ status: 400, body: refusal(400) });
});

describe.each([SIGN_PATH, REPORT_PATH])('%s', (path) => {
  test.each(['GET', 'OPTIONS'] as const)('answers 405 to %s and names POST', async (method) => {
    const answer = await server.call({ method, path, headers: { authorization: basic(server.credentials) } });
    expect(answer).toMatchObject({ status: 405, body: refusal(405), headers: { allow: 'POST' } });
    expect(server.log().at(-1)).toMatchObject({ outcome: 'refused', reason: 'http', status: 405 });
  });

  test.each(['application/jsonx', 'multipart/form-data; boundary=x', 'nonsense'])(
    'answers 415 to the content type %s',
    async (type) => {
      const payload = JSON.stringify(goodRequest());
      const answer = await server.call({ path, headers: headers({ 'content-type': type }), payload });
      expect(answer).toMatchObject({ status: 415, body: refusal(415) });
    },
  );

  test.each(['{"code":', 'null x', "{'code':'1'}", '{"__proto__":{"code":"1"}}', '\u0000'])(
    'answers 400 to the malformed JSON %j, without quoting it',
    async (payload) => {
      const answer = await server.call({ path, headers: headers(), payload });
      expect(answer).toMatchObject({ status: 400, body: refusal(400) });
      expect(answer.body.message).not.toContain(payload);
    },
  );

  test.each([
    ['at the top', '{"code":"1","digest":"","code":"2"}'],
    ['equal ones', '{"id":"x","id":"x"}'],
    ['in extra', '{"code":"1","extra":{"time":"","time":""}}'],
    ['in an array', '{"a":[{"b":1},{"b":1,"c":"{}","b":2}]}'],
    ['after an escape', '{"code":"1","c\\u006fde":"2"}'],
    ['with spaces before the colon', '{"a\\"":1,"a\\"" \n:2}'],
  ])('answers 400 to a member that is there twice: %s', async (_name, payload) => {
    const answer = await server.call({ path, headers: headers(), payload });
    expect(answer).toMatchObject({ status: 400, body: refusal(400) });
    expect(answer.body.message).toMatch(/duplicate member$/);
  });

  test.each([
    ['a byte that never occurs', [0xff]],
    ['half a character', [0xc3]],
    ['a character that is too long', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['Latin-1', [0xfc]],
  ])('answers 400 to a body that is not UTF-8: %s', async (_name, bytes) => {
    const payload = Buffer.concat([Buffer.from('{"code":"'), Buffer.from(bytes), Buffer.from('"}')]);
    const answer = await server.call({ path, headers: headers(), payload });
    expect(answer).toMatchObject({ status: 400, body: refusal(400) });
    expect(answer.body.message).toMatch(/UTF-8$/);
  });

  test.each(['gzip', 'deflate', 'br', 'GZIP', 'identity, gzip', 'nonsense', ''])(
    'answers 415 to the content encoding %j',
    async (coding) => {
      const payload = JSON.stringify(goodRequest());
      const answer = await server.call({ path, headers: headers({ 'content-encoding': coding }), payload });
      expect(answer).toMatchObject({ status: 415, body: refusal(415), headers: { 'accept-encoding': 'identity' } });
      expect(server.log().at(-1)).toMatchObject({ outcome: 'refused', reason: 'http', status: 415 });
    },
  );

  test('answers 413 to a body beyond the limit, and accepts one at the limit', async () => {
    const payloadOf = (size: number) => JSON.stringify({ padding: 'x'.repeat(size - '{"padding":""}'.length) });
    const large = await server.call({ path, headers: headers(), payload: payloadOf(BODY_LIMIT + 1) });
    expect(large).toMatchObject({ status: 413, body: refusal(413) });
    expect((await server.call({ path, headers: headers(), payload: payloadOf(BODY_LIMIT) })).status).toBe(400);
  });
});

test.each(['identity', 'Identity'])('takes a body with the content encoding %s', async (coding) => {
  const payload = JSON.stringify({ text: '{"a":1,"a":2}', more: [{ text: 1 }, { text: 2 }], ...goodRequest() });
  const answer = await server.call({ path: SIGN_PATH, headers: headers({ 'content-encoding': coding }), payload });
  expect(answer.body.code).toBe(0);
});

describe('the chain of a certificate', () => {
  const chain = (
    number: string,
    by: Parameters<typeof basic>[0] = server.credentials,
    method: 'GET' | 'HEAD' | 'POST' = 'GET',
  ) => {
    const options = { method, url: `/certificates/${number}.pem` };
    return server.app.inject({ ...options, headers: { authorization: basic(by) } });
  };

  test('is PEM with the leaf first, also of a disabled certificate', async () => {
    const { chain: stored } = (await server.data.store.certificates.find(NUMBER)) ?? {};
    const answer = await chain(NUMBER);
    expect(answer).toMatchObject({ statusCode: 200, body: stored });
    expect(answer.headers['content-type']).toBe('application/pem-certificate-chain');
    expect(server.log().at(-1)).toMatchObject({ operation: 'certificate', outcome: 'shown', certificate: NUMBER });
    expect(await chain(NUMBER, server.credentials, 'HEAD')).toMatchObject({ statusCode: 200, body: '' });
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

test.each(['__proto__', 'constructor', 'prototype', 'toString', 'unknown'])(
  'ignores a member named %s, in a request and in extra',
  async (name) => {
    const hostile = { prototype: { code: '1' }, code: '1' };
    const member = `"${name}":${JSON.stringify(hostile)}`;
    const payload = `{${member},"extra":{${member}},${JSON.stringify(goodRequest()).slice(1)}`;
    const answer = await server.call({ path: SIGN_PATH, headers: headers(), payload });
    expect(answer.body.code).toBe(0);
    const report = `{${member},"id":"${answer.body.data?.id}","status":1}`;
    expect((await server.call({ path: REPORT_PATH, headers: headers(), payload: report })).body.code).toBe(0);
  },
);
