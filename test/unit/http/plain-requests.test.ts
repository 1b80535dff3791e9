/** Requests that carry nothing secret: what travels by them, and that they go by http: too and follow no redirect. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { listen, openHttp } from './support/http-setting.ts';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function start(answer: (response: ServerResponse) => void): Promise<{ url: URL; received: Received[] }> {
  const received: Received[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      received.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      answer(response);
    });
  });
  return { url: new URL(`http://127.0.0.1:${await listen(server)}/path?query=1`), received };
}

const bounds = { deadlineMilliseconds: 5000, sizeLimit: 1000 };

test('a POST has the requested types and the body, and no user information from the address', async () => {
  const { url, received } = await start((response) => response.end('answer'));
  url.username = 'user';
  url.password = 'password';
  const outcome = await openHttp().post({
    ...bounds,
    url,
    contentType: 'application/timestamp-query',
    accept: 'application/timestamp-reply',
    body: Buffer.from('query'),
  });
  expect(outcome).toMatchObject({ kind: 'answer', status: 200, body: Buffer.from('answer') });
  expect(received).toHaveLength(1);
  const [request] = received;
  expect(request).toMatchObject({ method: 'POST', url: '/path?query=1', body: 'query' });
  expect(request?.headers).toMatchObject({
    'content-type': 'application/timestamp-query',
    'content-length': '5',
    accept: 'application/timestamp-reply',
    'user-agent': 'test',
  });
  expect(request?.headers.authorization).toBeUndefined();
  expect(JSON.stringify(request)).not.toContain('password');
});

test('a GET has no body, and its own headers', async () => {
  const { url, received } = await start((response) => response.end('list'));
  const headers = { 'if-none-match': '"1"' };
  const outcome = await openHttp().get({ ...bounds, url, accept: 'application/pkix-crl', headers });
  expect(outcome).toMatchObject({ kind: 'answer', body: Buffer.from('list') });
  expect(received[0]).toMatchObject({ method: 'GET', body: '' });
  expect(received[0]?.headers).toMatchObject({ accept: 'application/pkix-crl', 'if-none-match': '"1"' });
  expect(received[0]?.headers).not.toHaveProperty('content-type');
  expect(received[0]?.headers).not.toHaveProperty('content-length');
});

test('a redirect is an answer like any other', async () => {
  const { url, received } = await start((response) => response.writeHead(302, { location: '/elsewhere' }).end());
  const http = openHttp();
  const answer = { kind: 'answer', status: 302 };
  expect(await http.get({ ...bounds, url, accept: '*/*' })).toMatchObject(answer);
  const post = { ...bounds, url, accept: '*/*', contentType: 'text/plain', body: Buffer.from('query') };
  expect(await http.post(post)).toMatchObject(answer);
  expect(received).toHaveLength(2);
});

test('http: is allowed for other machines too, which postJson rejects', async () => {
  const http = openHttp();
  const url = new URL(`http://${'a'.repeat(64)}.invalid/`);
  expect(await http.get({ ...bounds, url, accept: '*/*' })).toMatchObject({ reason: 'host-not-found' });
  await expect(http.postJson({ ...bounds, url, headers: {}, body: Buffer.from('{}') })).rejects.toMatchObject({
    code: 'insecure-address',
  });
});

test.each(['ldap://127.0.0.1/cn=list', 'file:///etc/hostname'])('%s is a failure, not a throw', async (url) => {
  const outcome = await openHttp().get({ ...bounds, url: new URL(url), accept: '*/*' });
  expect(outcome).toMatchObject({ kind: 'failure', reason: 'unreachable', mayHaveArrived: false });
});
