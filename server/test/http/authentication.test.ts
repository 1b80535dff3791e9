import { describe, expect, test } from 'vitest';
import { REPORT_PATH, SIGN_PATH } from '../../../src/service/messages.ts';
import { forAll } from '../../../test/support/set-up.ts';
import { basic, goodRequest, openApp } from '../support/in-process.ts';

const server = await forAll(openApp(() => ({ proxy: ['10.0.0.5', '192.168.0.0/16'] })));

const UNAUTHORIZED = { code: 401, message: 'unauthorized', data: null };

describe.each([SIGN_PATH, REPORT_PATH])('%s', (path) => {
  /** Each is another text for the right credentials, whose Base64 ends with padding and has characters that vary. */
  const BAD_ENCODINGS: Readonly<Record<string, (encoded: string) => string>> = {
    'without its padding': (encoded) => encoded.replace(/=+$/, ''),
    'with more padding': (encoded) => `${encoded}=`,
    'in the alphabet for addresses': (encoded) => encoded.replaceAll('+', '-').replaceAll('/', '_'),
    'with a foreign character in it': (encoded) => `${encoded.slice(0, 8)}!${encoded.slice(8)}`,
    'with something behind it': (encoded) => `${encoded}!`,
    'with bits that no byte has': (encoded) =>
      encoded.replace(/.(?==)/, (last) => String.fromCharCode(last.charCodeAt(0) + 1)),
  };

  test.each(Object.entries(BAD_ENCODINGS))('rejects the right credentials in Base64 %s', async (_name, change) => {
    const client = await server.addClient('~~~???>>>+'); // with plus and slash in its Base64
    const encoded = basic(client).slice('Basic '.length);
    expect(encoded).toMatch(/\+.*\/.*[A-Za-z0-9]=+$|\/.*\+.*[A-Za-z0-9]=+$/);
    const changed = change(encoded);
    expect(changed).not.toBe(encoded);
    expect(Buffer.from(changed, 'base64')).toEqual(Buffer.from(encoded, 'base64')); // so a lenient reader lets it in
    const headers = { 'content-type': 'application/json', authorization: `Basic ${changed}` };
    const answer = await server.call({ path, headers, payload: JSON.stringify(goodRequest()) });
    expect(answer).toMatchObject({ status: 401, body: UNAUTHORIZED });
  });

  test('checks credentials before the body: an unknown caller learns nothing of content type or JSON', async () => {
    const answer = await server.call({ path, headers: { 'content-type': 'text/plain' }, payload: '{' });
    expect(answer.body).toEqual(UNAUTHORIZED);
  });
});

test('logs who failed to log in and why, without anything that may be a secret', async () => {
  const { accessKey, accessSecret } = await server.addClient();
  const { clients } = server.data.store;
  const failed = async (authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization };
    expect((await server.call({ headers })).body).toEqual(UNAUTHORIZED);
    const { remoteAddress, duration, ...line } = server.log().at(-1) ?? {};
    expect({ remoteAddress, duration }).toEqual({ remoteAddress: '127.0.0.1', duration: expect.any(Number) });
    return line;
  };
  const wrong = { accessKey, accessSecret: 'wrong' };
  const swapped = { accessKey: accessSecret, accessSecret: accessKey };
  expect(await failed()).toMatchObject({ failure: 'no-credentials', accessKey: 'unknown' });
  expect(await failed('Basic !')).toMatchObject({ failure: 'malformed', accessKey: 'unknown' });
  expect(await failed(basic(swapped))).toMatchObject({ failure: 'unknown-key', accessKey: 'unknown' });
  expect(await failed(basic(wrong))).toMatchObject({ failure: 'wrong-secret', accessKey, client: accessKey });
  await clients.change(accessKey, { disabled: true });
  expect(await failed(basic(wrong))).toMatchObject({ failure: 'wrong-secret', accessKey });
  expect(await failed(basic({ accessKey, accessSecret }))).toMatchObject({ failure: 'disabled', accessKey });
  await clients.change(accessKey, { disabled: false, expiresAt: new Date(0) });
  expect(await failed(basic({ accessKey, accessSecret }))).toMatchObject({ failure: 'expired', accessKey });
  expect(server.logText()).not.toContain(accessSecret);
});

test('believes X-Forwarded-For only of the proxies that the configuration names', async () => {
  const seen = async (remoteAddress: string, forwarded: string, url = SIGN_PATH) => {
    await server.app.inject({ method: 'POST', url, remoteAddress, headers: { 'x-forwarded-for': forwarded } });
    return server.log().at(-1)?.remoteAddress;
  };
  expect(await seen('10.0.0.5', '203.0.113.7')).toBe('203.0.113.7');
  expect(await seen('::ffff:10.0.0.5', '2001:db8::7')).toBe('2001:db8::7');
  expect(await seen('10.0.0.5', '198.51.100.1, 203.0.113.7, 192.168.3.4')).toBe('203.0.113.7');
  expect(await seen('10.0.0.5', '203.0.113.7', '/nothing')).toBe('203.0.113.7');
  expect(await seen('10.0.0.6', '203.0.113.7')).toBe('10.0.0.6');
  for (const forged of ['', 'localhost', 'a-secret', '203.0.113.7:99', '203.0.113.7, 10.0.0.5 x']) {
    expect(await seen('10.0.0.5', forged)).toBe('10.0.0.5');
  }
});
