/** Further connections to a server resume its TLS session, and trust nothing that a full handshake would not trust. */

import { constants } from 'node:crypto';
import https, { type Server } from 'node:https';
import type { SecureVersion, TLSSocket } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HttpOptions } from '../../../src/http/http.ts';
import type { Outcome } from '../../../src/http/request.ts';
import { listen as startListening } from '../../support/network/listen.ts';
import { createTlsAuthority, type TlsAuthority } from '../../support/services/tls-authority.ts';
import * as setting from './support/http-setting.ts';

const authority = createTlsAuthority();

interface ListenOptions {
  readonly protocol?: SecureVersion;
  readonly port?: number;
  readonly by?: TlsAuthority;
  readonly names?: readonly string[];
  readonly secureOptions?: number;
}

/** A server that closes each connection after one answer. `resumed`: for each connection, whether it resumed a session. */
async function listen(given: ListenOptions = {}) {
  const { protocol, by = authority, names = ['localhost', '127.0.0.1'], secureOptions } = given;
  const options = { ...by.issue({ names }), ...(secureOptions && { secureOptions }) };
  const versions = protocol && { minVersion: protocol, maxVersion: protocol };
  const resumed: boolean[] = [];
  const server: Server = https.createServer({ ...options, ...versions }, (request, response) => {
    request.resume();
    response.writeHead(200, { connection: 'close' }).end('{}');
  });
  server.on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()));
  const { port, stop } = await startListening(server, given.port);
  onTestFinished(stop);
  return { port, resumed, server, stop };
}

type Resume = (failure: Error | null, session: Buffer | null) => void;

/** `meet` decides about the sessions that the server gave. Clients with TLS 1.3 always send some session id. */
function onResumption(server: Server, meet: (done: Resume) => void): void {
  const given = new Set<string>();
  server.on('newSession', (id: Buffer, _session: Buffer, done: () => void) => {
    given.add(id.toString('hex'));
    done();
  });
  server.on('resumeSession', (id: Buffer, done: Resume) => {
    if (given.has(id.toString('hex'))) meet(done);
    else done(null, null);
  });
}

function open(options: Partial<HttpOptions> = {}): (host: string, port: number) => Promise<Outcome> {
  const own = [authority.root];
  const client = setting.openHttp({ roots: { own, all: async () => undefined }, ...options });
  return (host, port) => setting.post(client, `https://${host}:${port}/`);
}

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('with %s', (protocol) => {
  test('each connection after the first resumes', async () => {
    const { port, resumed } = await listen({ protocol });
    const post = open();
    for (let call = 0; call < 4; call++) expect(await post('localhost', port)).toMatchObject({ kind: 'answer' });
    expect(resumed).toEqual([false, true, true, true]);
  });

  test('a session is offered to the name that the certificate was checked against, and to no other', async () => {
    const { port, resumed } = await listen({ protocol, names: ['localhost'] });
    const post = open();
    expect(await post('localhost', port)).toMatchObject({ kind: 'answer' });
    expect(await post('127.0.0.1', port)).toMatchObject({ kind: 'failure', reason: 'tls-untrusted' });
    expect(await post('localhost', port)).toMatchObject({ kind: 'answer' });
    expect(resumed.filter(Boolean)).toHaveLength(1);
  });

  test('another server at the same place is checked by its certificate', async () => {
    const first = await listen({ protocol });
    const post = open();
    expect(await post('localhost', first.port)).toMatchObject({ kind: 'answer' });
    await first.stop();
    const second = await listen({ protocol, port: first.port, by: createTlsAuthority('Stranger') });
    expect(await post('localhost', first.port)).toMatchObject({ kind: 'failure', reason: 'tls-untrusted' });
    expect(await post('localhost', first.port)).toMatchObject({ kind: 'failure', reason: 'tls-untrusted' });
    expect(second.resumed).not.toContain(true);
  });
});

test('a server that breaks off handshakes that resume has a whole one, with the request that was waiting', async () => {
  const secureOptions = constants.SSL_OP_NO_TICKET;
  const { port, resumed, server } = await listen({ protocol: 'TLSv1.2', secureOptions });
  let refused = 0;
  onResumption(server, (done) => {
    refused += 1;
    done(new Error('not now'), null);
  });
  const post = open();
  for (let call = 0; call < 2; call++) expect(await post('localhost', port)).toMatchObject({ kind: 'answer' });
  expect(refused).toBe(1);
  expect(resumed).toEqual([false, false]);
});

test('a connection that hangs with a session is tried without one next', async () => {
  const { port, resumed, server } = await listen({ protocol: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET });
  let asked = 0;
  onResumption(server, () => {
    asked += 1;
  });
  const post = open({ connectMilliseconds: 2000 });
  expect(await post('localhost', port)).toMatchObject({ kind: 'answer' });
  expect(await post('localhost', port)).toMatchObject({ reason: 'connect-timed-out', mayHaveArrived: false });
  expect(await post('localhost', port)).toMatchObject({ kind: 'answer' });
  expect(asked).toBe(1);
  expect(resumed).toEqual([false, false]);
});

test('two clients of one process share no session: their roots may differ', async () => {
  const { port, resumed } = await listen();
  await open()('localhost', port);
  await open()('localhost', port);
  expect(resumed).toEqual([false, false]);
});
