import { EventEmitter, once } from 'node:events';
import { Agent, request } from 'node:https';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { SIGN_PATH } from '../../../src/service/messages.ts';
import type { ServerDependencies } from '../../src/http/app.ts';
import { basic, goodRequest, openApp, type TestApp } from '../support/in-process.ts';

let server: TestApp;
afterEach(() => server.close());

/** A place in a request's way that a test can hold it at. */
function gate() {
  const events = new EventEmitter();
  const [reached, opened] = [once(events, 'reached'), once(events, 'opened')];
  const pass = async () => {
    events.emit('reached');
    await opened;
  };
  return { reached, open: () => events.emit('opened'), pass };
}

/** A client of plain node:https that posts a good request. */
async function post() {
  const { port } = await listening();
  const call = request({
    ...{ host: '127.0.0.1', port, path: SIGN_PATH, method: 'POST', rejectUnauthorized: false },
    ...{ agent: new Agent({ keepAlive: true }) },
    headers: { authorization: basic(server.credentials), 'content-type': 'application/json' },
  });
  call.end(JSON.stringify(goodRequest()));
  return { call, port };
}

/** The beginning of a good request. */
const postHead = () =>
  `POST ${SIGN_PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(server.credentials)}\r\nContent-Type: application/json\r\n`;

async function listening() {
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  return server.app.server.address() as AddressInfo;
}

const tls = (port: number) => connect({ host: '127.0.0.1', port, rejectUnauthorized: false });

/** Listens, and connects a client that has sent nothing yet. */
async function connected() {
  const { port } = await listening();
  const socket = tls(port);
  await once(socket, 'secureConnect');
  return { socket, port };
}

/** An application whose keys wait until the test releases them. */
async function openHeld(limits: ServerDependencies['limits'] = {}) {
  const hold = gate();
  server = await openApp(({ keys }) => {
    const find = (id: string) => hold.pass().then(() => keys.find(id));
    return { keys: { ...keys, find }, limits };
  });
  return hold;
}

const outcomes = () => server.log().flatMap(({ operation, outcome }) => (operation === 'sign' ? [outcome] : []));

const eventually = (holds: () => boolean | Promise<boolean>) => vi.waitUntil(holds, { timeout: 10_000, interval: 10 });

test('a client that disconnects while the HSM signs pays nothing, and no record is kept', async () => {
  const hold = await openHeld();
  const { call } = await post();
  call.on('error', () => {});
  await hold.reached;
  call.destroy();
  await eventually(callIsGone);
  hold.open();
  await eventually(() => outcomes().length > 0);
  expect(outcomes()).toEqual(['abandoned']);
  expect(await server.counted()).toBe(0);
});

test('a client that disconnects before its answer is sent pays nothing, and the record says so', async () => {
  const hold = gate();
  const stored: string[] = [];
  server = await openApp(({ store }: ServerDependencies) => ({
    store: {
      ...store,
      counting: {
        ...store.counting,
        async add(record, patience) {
          const counted = await store.counting.add(record, patience);
          stored.push(record.id);
          await hold.pass();
          return counted;
        },
      },
    },
  }));
  const { call } = await post();
  call.on('error', () => {});
  await hold.reached;
  call.destroy();
  await eventually(callIsGone);
  hold.open();
  await eventually(() => outcomes().includes('not-sent'));
  expect(await server.data.store.records.find(stored[0] ?? '')).toMatchObject({ counted: false });
  expect(await server.counted()).toBe(0);
});

test('a client that disconnects with several requests in progress pays nothing, and does not delay the end of the server', async () => {
  const hold = await openHeld({ bodyAtEnd: 100 });
  const { port } = await listening();
  const tcp = connectTcp({ host: '127.0.0.1', port });
  const socket = connect({ socket: tcp, rejectUnauthorized: false });
  socket.on('error', () => {});
  const body = JSON.stringify(goodRequest());
  const call = `${postHead()}Content-Length: ${body.length}\r\n\r\n${body}`;
  socket.write(`${call}${call}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
  await hold.reached;
  tcp.resetAndDestroy();
  const closed = server.app.close(); // Node notices the end of a connection with queued requests only then
  hold.open();
  const unpaid = () => outcomes().filter((outcome) => outcome === 'abandoned' || outcome === 'not-sent');
  await eventually(() => unpaid().length === 2);
  await closed;
  expect(unpaid()).toHaveLength(2);
  expect(await server.counted()).toBe(0);
});

test('while it ends, the server finishes what is under way, takes nothing new, and does not wait for idle clients', async () => {
  const hold = await openHeld();
  const { call, port } = await post();
  await hold.reached;
  const closed = server.app.close();
  const [idle, late] = [tls(port), tls(port)];
  late.write(`POST ${SIGN_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);
  const refused = Buffer.concat(await late.toArray()).toString();
  expect(refused).toMatch(/^HTTP\/1.1 503 .*\r\nretry-after: 1\r\n.*"code":503,/s);
  idle.on('error', () => {}); // nothing was asked on it: it is cut
  hold.open();
  const [response] = await once(call, 'response');
  expect(JSON.parse(Buffer.concat(await response.toArray()).toString()).code).toBe(0);
  await closed;
  expect(outcomes()).toEqual(['refused', 'signed']);
  expect(server.log()).toContainEqual(expect.objectContaining({ reason: 'stopping', status: 503 }));
});

test('a signature that takes longer than ten seconds is also finished at the end', async () => {
  const hold = await openHeld();
  const { call } = await post();
  await hold.reached;
  const closed = server.app.close();
  setTimeout(hold.open, 11_000);
  const [response] = await once(call, 'response');
  expect(JSON.parse(Buffer.concat(await response.toArray()).toString()).code).toBe(0);
  await closed;
  expect(await server.counted()).toBe(1);
}, 60_000);

test('a body that does not arrive completely delays the end no longer than its time limit', async () => {
  server = await openApp(() => ({ limits: { request: 30_000, bodyAtEnd: 300 } }));
  const { socket } = await connected();
  const gone = once(socket, 'close');
  socket.on('error', () => {});
  const arrived = once(server.app.server, 'request');
  socket.write(`${postHead()}Content-Length: 100\r\n\r\n{`);
  await arrived;
  const began = performance.now();
  await server.app.close();
  await gone;
  expect(performance.now() - began).toBeGreaterThan(250);
  expect(performance.now() - began).toBeLessThan(25_000); // less than the other limit
});

test.each([
  ['headers', () => 'POST / HTTP/1.1\r\nHost: x\r\n'],
  ['a body', () => `${postHead()}Content-Length: 100\r\n\r\n{`],
])('cuts %s off that take too long, with an envelope and a line in the log', async (_name, text) => {
  server = await openApp(() => ({ limits: { request: 1000, bodyAtEnd: 300 } }));
  const { socket } = await connected();
  const began = performance.now();
  socket.write(text());
  const answer = Buffer.concat(await socket.toArray()).toString();
  expect(performance.now() - began).toBeLessThan(25_000); // less than the limit in production
  expect(answer).toMatch(/^HTTP\/1.1 408 .*"code":408,/s);
  expect(server.log()).toContainEqual(expect.objectContaining({ outcome: 'refused', reason: 'http', status: 408 }));
});

test('cuts off a TLS handshake that takes too long, and logs it with its address', async () => {
  server = await openApp(() => ({ limits: { handshake: 300 } }));
  const { port } = await listening();
  const silent = connectTcp({ host: '127.0.0.1', port });
  await once(silent, 'close');
  expect(server.log()).toContainEqual(
    expect.objectContaining({ outcome: 'tls-failed', code: 'ERR_TLS_HANDSHAKE_TIMEOUT', remoteAddress: '127.0.0.1' }),
  );
});

test('ends with silent connections, half a handshake and half a request open, and with an unread answer', async () => {
  server = await openApp(() => ({ limits: { bodyAtEnd: 100 } }));
  server.app.get('/large', (_request, reply) => reply.send('x'.repeat(32 * 1024 * 1024)));
  const { socket, port } = await connected();
  const tcp = () => connectTcp({ host: '127.0.0.1', port });
  const others = [tcp(), tcp(), tls(port), tls(port), socket];
  others[1]?.write(Buffer.from('16030100c8010000c40303', 'hex'));
  others[2]?.write('POST / HTTP/1.1\r\nHost: x\r\nX-A');
  others[3]?.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  others[3]?.once('readable', () => {}); // begins to read, and goes no further than a buffer
  for (const each of others) each.on('error', () => {});
  await eventually(async () => (await connections()) === 5 && (others[3]?.readableLength ?? 0) > 0);
  await server.app.close();
  await eventually(() => others.every(({ closed }, index) => closed || index === 3)); // what was read of it is still there
  for (const each of others) each.destroy();
});

test('a client that got an error and stays idle does not keep its connection', async () => {
  server = await openApp();
  const { port } = await connected();
  const socket = connect({
    socket: connectTcp({ host: '127.0.0.1', port, allowHalfOpen: true }),
    rejectUnauthorized: false,
  });
  const answer: Buffer[] = [];
  socket.on('data', (bytes) => answer.push(bytes));
  socket.on('error', () => {});
  socket.write('hello\r\n\r\n');
  await eventually(async () => answer.length > 0 && (await connections()) === 1);
  expect(Buffer.concat(answer).toString()).toMatch(/^HTTP\/1.1 400 /);
  expect(await connections()).toBe(1); // the one of `connected`
  socket.destroy();
});

test.each([
  ['what is no HTTP', 'hello\r\n\r\n', 400],
  ['headers without end', `POST / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
  ['HTTP/1.1 without a Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
  ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
  ['an expectation that is not supported', 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n', 417],
  ['HTTP/2.0', 'GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n', 505],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 405],
  ['a body of two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx', 400],
])('answers %s with an envelope', async (_name, text, status) => {
  server = await openApp();
  const { socket } = await connected();
  socket.write(text);
  const answer = Buffer.concat(await socket.toArray()).toString();
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ code: status, data: null });
  expect(server.log()).toContainEqual(
    expect.objectContaining({ reason: 'http', status, remoteAddress: '127.0.0.1', accessKey: 'unknown' }),
  );
});

/** Whether the server has noticed that its client went. */
const callIsGone = async () => (await connections()) === 0;

const connections = () => promisify(server.app.server.getConnections).call(server.app.server);
