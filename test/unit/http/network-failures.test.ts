/** Failed connections. test/system/cli/service/service-answers.test.ts tests answers with errors. */

import net from 'node:net';
import tls from 'node:tls';
import { describe, expect, test } from 'vitest';
import type { Http } from '../../../src/http/http.ts';
import type { Failure } from '../../../src/http/request.ts';
import { createTlsAuthority } from '../../support/services/tls-authority.ts';
import * as setting from './support/http-setting.ts';

function openHttp(own?: readonly string[], connectMilliseconds?: number): Http {
  return setting.openHttp({ roots: { own, all: async () => undefined }, connectMilliseconds });
}

const listen = async (server: net.Server): Promise<string> => `127.0.0.1:${await setting.listen(server)}`;

const { post } = setting;

const never = (reason: Failure['reason']) => ({ kind: 'failure', reason, mayHaveArrived: false, head: undefined });

const ISSUED = /; issued by Test TLS Root$/;
const TIMED = /; issued by Test TLS Root, valid from .+ GMT to .+ GMT, and the clock of this machine says .+ GMT$/;

describe('nothing was sent', () => {
  test('no server listens', async () => {
    const port = await setting.closedPort();
    for (const url of [`https://127.0.0.1:${port}/`, `http://localhost:${port}/`]) {
      expect(await post(openHttp(), url)).toMatchObject(never('refused'));
    }
  });

  test.each<[string, (socket: net.Socket) => void, Failure['reason']]>([
    ['the handshake never ends', () => undefined, 'connect-timed-out'],
    ['the handshake is cut off', (socket) => socket.once('data', () => socket.destroy()), 'unreachable'],
    ['the handshake is reset', (socket) => socket.once('data', () => socket.resetAndDestroy()), 'unreachable'],
    ['the other side speaks no TLS', (socket) => socket.end('SSH-2.0-OpenSSH\r\n'), 'tls-failed'],
  ])('%s', async (_name, then, reason) => {
    const host = await listen(net.createServer(then));
    const limit = reason === 'connect-timed-out' ? 200 : undefined;
    expect(await post(openHttp([], limit), `https://${host}/`)).toMatchObject(never(reason));
  });

  test('the other side offers TLS 1.1 at most', async () => {
    const authority = createTlsAuthority();
    const identity = authority.issue({ names: ['127.0.0.1'] });
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    const server = tls.createServer({ ...identity, ...old }, (socket) => socket.end());
    const host = await listen(server);
    expect(await post(openHttp([authority.root]), `https://${host}/`)).toMatchObject(never('tls-failed'));
  });

  test.each([
    ['an unknown root', { names: ['127.0.0.1'] }, false, ISSUED],
    ['an expired certificate', { names: ['127.0.0.1'], notAfter: new Date(Date.now() - 60_000) }, true, TIMED],
    ['a certificate of the future', { names: ['127.0.0.1'], notBefore: new Date(Date.now() + 3_600_000) }, true, TIMED],
    ['a certificate for another name', { names: ['localhost', '127.0.0.2'] }, true, ISSUED],
  ])('%s', async (_name, issue, trusted, detail) => {
    const authority = createTlsAuthority();
    const received: string[] = [];
    const server = tls.createServer(authority.issue(issue), (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => received.push(data.toString()));
    });
    const host = await listen(server);
    const http = openHttp(trusted ? [authority.root] : undefined);
    const outcome = await post(http, `https://${host}/`);
    expect(outcome).toMatchObject({ ...never('tls-untrusted'), detail: expect.stringMatching(detail) });
    expect(received).toEqual([]);
  });

  test.each([
    ['no subjectAltName', { names: [] }, /has no subjectAltName/],
    ['no DNS name in subjectAltName', { names: ['127.0.0.1'] }, /does not contain a DNS name/],
  ])('a certificate with the right common name and %s', async (_name, { names }, detail) => {
    const authority = createTlsAuthority();
    const server = tls.createServer(authority.issue({ names, commonName: 'localhost' }));
    const host = await listen(server);
    const outcome = await post(openHttp([authority.root]), `https://${host.replace('127.0.0.1', 'localhost')}/`);
    expect(outcome).toMatchObject({ ...never('tls-untrusted'), detail: expect.stringMatching(detail) });
  });

  test('a call that is aborted while it waits for a connection is not sent later', async () => {
    const received: string[] = [];
    let open: () => void = () => undefined;
    const authority = createTlsAuthority();
    const identity = authority.issue({ names: ['127.0.0.1'] });
    // Takes the handshake only once told to.
    const server = net.createServer({ pauseOnConnect: true }, (socket) => {
      open = () => {
        const secure = new tls.TLSSocket(socket, { isServer: true, ...identity });
        secure.on('data', (data) => received.push(data.toString()));
        secure.on('error', () => undefined);
        socket.resume();
      };
    });
    const host = await listen(server);
    const http = openHttp([authority.root]);
    const outcome = await post(http, `https://${host}/`, { deadlineMilliseconds: 200 });
    expect(outcome).toMatchObject({ ...never('timed-out'), detail: 'no connection within 0.2 s' });
    open();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(received).toEqual([]);
  });
});

const answering = (answer: string) =>
  listen(net.createServer((socket) => socket.once('data', () => socket.end(answer))));

test('a request whose answer is cut off may have arrived: the failure says how long ago it was sent', async () => {
  const host = await answering('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n12');
  const outcome = await post(openHttp(), `http://${host}/`);
  expect(outcome).toMatchObject({ kind: 'failure', reason: 'broken', mayHaveArrived: true, head: { status: 200 } });
  expect(outcome).toMatchObject({ detail: expect.stringMatching(/, \d+\.\d s after the request was sent$/) });
});

test('a body of exactly the limit is taken, also one that ends with the connection, and a longer one is not', async () => {
  const body = 'x'.repeat(1000);
  const whole = await post(openHttp(), `http://${await answering(`HTTP/1.1 200 OK\r\n\r\n${body}`)}/`);
  expect(whole).toEqual({ kind: 'answer', status: 200, headers: new Map(), body: Buffer.from(body) });
  const longer = await post(openHttp(), `http://${await answering(`HTTP/1.1 200 OK\r\n\r\n${body}x`)}/`);
  expect(longer).toMatchObject({ kind: 'failure', reason: 'too-large', mayHaveArrived: true, head: { status: 200 } });
});

test('http: is allowed for other machines too, which postJson rejects', async () => {
  const url = `http://${'a'.repeat(64)}.invalid/`;
  expect(await setting.get(openHttp(), url)).toMatchObject(never('host-not-found'));
  expect(await setting.get(openHttp(), 'ldap://127.0.0.1/cn=list')).toMatchObject(never('unreachable'));
  await expect(post(openHttp(), url)).rejects.toMatchObject({ code: 'insecure-address' });
});

test('the user information of an address is not sent', async () => {
  let received = '';
  const server = net.createServer((socket) => {
    socket.on('data', (data) => (received += data)).end('HTTP/1.1 200 OK\r\n\r\n');
  });
  const outcome = await setting.get(openHttp(), `http://user:password@${await listen(server)}/path`);
  expect(outcome).toMatchObject({ kind: 'answer' });
  expect(received).toMatch(/^GET \/path HTTP/);
  expect(received).not.toMatch(/user:|password|authorization/i);
});
