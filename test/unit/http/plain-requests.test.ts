/** Requests without secrets, also over http:. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { BOUNDS, get, listen, openHttp, post } from './support/http-setting.ts';

async function start(answer: (response: ServerResponse) => void) {
  const received: (Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { readonly body: string })[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    received.push({ method, url, headers, body: (await request.toArray()).join('') });
    answer(response);
  });
  return { url: new URL(`http://127.0.0.1:${await listen(server)}/path?query=1`), received };
}

test('a POST has the requested types and the body, and no user information from the address', async () => {
  const { url, received } = await start((response) => response.end('answer'));
  url.username = 'user';
  url.password = 'password';
  const outcome = await openHttp().post({
    ...BOUNDS,
    url,
    contentType: 'application/timestamp-query',
    accept: 'application/timestamp-reply',
    body: Buffer.from('query'),
  });
  expect(outcome).toMatchObject({ kind: 'answer', status: 200, body: Buffer.from('answer') });
  const types = { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' };
  const headers = { ...types, 'content-length': '5', 'user-agent': 'test' };
  expect(received).toMatchObject([{ method: 'POST', url: '/path?query=1', body: 'query', headers }]);
  expect(received[0]?.headers.authorization).toBeUndefined();
  expect(JSON.stringify(received)).not.toContain('password');
});

test('a GET has no body, and its own headers', async () => {
  const { url, received } = await start((response) => response.end('list'));
  const headers = { 'if-none-match': '"1"' };
  const outcome = await openHttp().get({ ...BOUNDS, url, accept: 'application/pkix-crl', headers });
  expect(outcome).toMatchObject({ kind: 'answer', body: Buffer.from('list') });
  expect(received[0]).toMatchObject({ method: 'GET', body: '' });
  expect(received[0]?.headers).toMatchObject({ accept: 'application/pkix-crl', 'if-none-match': '"1"' });
  expect(received[0]?.headers).not.toHaveProperty('content-type');
  expect(received[0]?.headers).not.toHaveProperty('content-length');
});

test('http: is allowed for other machines too, which postJson rejects', async () => {
  const http = openHttp();
  const url = `http://${'a'.repeat(64)}.invalid/`;
  const failure = { kind: 'failure', reason: 'host-not-found', mayHaveArrived: false };
  expect(await get(http, url)).toMatchObject(failure);
  const directory = await get(http, 'ldap://127.0.0.1/cn=list');
  expect(directory).toMatchObject({ kind: 'failure', reason: 'unreachable', mayHaveArrived: false });
  await expect(post(http, url)).rejects.toMatchObject({ code: 'insecure-address' });
});
