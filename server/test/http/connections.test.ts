import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { SIGN_PATH } from '../../../src/service/messages.ts';
import { connectionLimit, openFilesLimit } from '../../src/http/connections.ts';
import { basic, openApp, type TestApp } from '../support/in-process.ts';

let server: TestApp;
let port: number;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

/** A server with this limit of connections. */
async function listen(connections: number): Promise<void> {
  server = await openApp(() => ({ connections }));
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = server.app.server.address() as AddressInfo);
}

async function opened(socket: Socket, event: string): Promise<Socket> {
  sockets.push(socket);
  socket.on('error', () => {});
  await once(socket, event);
  return socket;
}
/** A connection that sends nothing. */
const silent = () => opened(connectTcp({ host: '127.0.0.1', port }), 'connect');
/** A connection that is kept after its request was answered. */
async function answered(head: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.write(`${head}\r\n\r\n`);
  return await opened(socket, 'data');
}
const anyone = () => answered('GET /healthz HTTP/1.1\r\nHost: x');
const client = (more = {}) => {
  const authorization = basic({ ...server.credentials, ...more });
  return answered(`POST ${SIGN_PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Length: 0`);
};

const isClosed = (socket: Socket) => expect.poll(() => socket.closed).toBe(true);

test('closes the oldest connection without a request for each one beyond the limit, and says so in the log once', async () => {
  await listen(4);
  const [first, kept, second] = [await silent(), await anyone(), await silent()];
  await client();
  const newest = await silent();
  await isClosed(first);
  await client();
  await isClosed(second);
  expect([kept.closed, newest.closed]).toEqual([false, false]);
  const line = { outcome: 'connections-full', connections: 4, remoteAddress: '127.0.0.1' };
  expect(server.log().filter(({ outcome }) => outcome === 'connections-full')).toEqual([expect.objectContaining(line)]);
  expect(server.log().filter(({ outcome }) => outcome === 'tls-failed')).toEqual([]);
});

test('then closes the oldest connection without a client’s credentials; if all belong to clients, the new one', async () => {
  await listen(3);
  const [first, second] = [await anyone(), await client({ accessSecret: 'wrong' })];
  const clients = [await client(), await client()];
  await isClosed(first);
  clients.push(await client());
  await isClosed(second);
  await isClosed(await silent());
  expect(clients.map(({ closed }) => closed)).toEqual([false, false, false]);
});

test('leaves files for its own work: allows fewer connections than the process may open files', () => {
  expect([256, 1024, 4000, 1_000_000].map(connectionLimit)).toEqual([128, 896, 3872, 4096]);
  expect(connectionLimit(undefined)).toBe(4096);
  expect(openFilesLimit()).toBeGreaterThan(200);
});
