import { expect, test } from 'vitest';
import { SIGN_PATH } from '../../../src/service/messages.ts';
import { forAll } from '../../../test/support/set-up.ts';
import { basic, openApp } from '../support/in-process.ts';

// Authorization headers that are refused or accepted: server/conformance/suite.test.ts.
const server = await forAll(openApp(() => ({ proxy: ['10.0.0.5', '192.168.0.0/16'] })));

const UNAUTHORIZED = { code: 401, message: 'unauthorized', data: null };

test('checks credentials before the body: an unknown caller learns nothing of content type or JSON', async () => {
  expect((await server.call({ headers: { 'content-type': 'text/plain' }, payload: '{' })).body).toEqual(UNAUTHORIZED);
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
  const right = basic({ accessKey, accessSecret });
  const wrong = basic({ accessKey, accessSecret: 'wrong' });
  const swapped = basic({ accessKey: accessSecret, accessSecret: accessKey });
  expect(await failed()).toMatchObject({ failure: 'no-credentials', accessKey: 'unknown' });
  expect(await failed('Basic !')).toMatchObject({ failure: 'malformed', accessKey: 'unknown' });
  expect(await failed(`${right.replace(/=+$/, '')}!`)).toMatchObject({ failure: 'malformed' });
  expect(await failed(swapped)).toMatchObject({ failure: 'unknown-key', accessKey: 'unknown' });
  expect(await failed(wrong)).toMatchObject({ failure: 'wrong-secret', accessKey, client: accessKey });
  await clients.change(accessKey, { disabled: true });
  expect(await failed(wrong)).toMatchObject({ failure: 'wrong-secret', accessKey });
  expect(await failed(right)).toMatchObject({ failure: 'disabled', accessKey });
  await clients.change(accessKey, { disabled: false, expiresAt: new Date(0) });
  expect(await failed(right)).toMatchObject({ failure: 'expired', accessKey });
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
