/** Kept connections: unexpected data of a service answers no request, and a free connection goes to the next request. */

import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Outcome } from '../../../src/http/request.ts';
import { BOUNDS, closedPort, get, listen, openHttp, post } from './support/http-setting.ts';

function answerWith(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** `answer` gets the number of the connection and of the request on it, both from 1. */
async function serve(answer: (socket: net.Socket, connection: number, request: number) => void): Promise<string> {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    const connection = connections;
    let requests = 0;
    socket.on('data', (bytes) => {
      if (!bytes.includes('\r\n\r\n')) return;
      requests += 1;
      answer(socket, connection, requests);
    });
  });
  return `http://127.0.0.1:${await listen(server)}/`;
}

const client = (connections?: number) => openHttp({ connections });

function bodyOf(outcome: Outcome): string {
  return outcome.kind === 'answer' ? Buffer.from(outcome.body).toString() : `${outcome.kind}: ${outcome.detail}`;
}

test.each([0, 20])('a second answer after %i ms answers no request', async (wait) => {
  let isClosed: Promise<unknown> | undefined;
  const url = await serve((socket, connection, request) => {
    isClosed = once(socket, 'close');
    socket.write(answerWith(`${request} of ${connection}`));
    if (wait === 0) socket.write(answerWith('unasked'));
    else setTimeout(() => socket.write(answerWith('unasked')), wait);
  });
  const http = client();
  for (const connection of [1, 2]) {
    expect(bodyOf(await get(http, url))).toBe(`1 of ${connection}`);
    if (wait > 0) await isClosed;
  }
});

test('an answer after which the service closes, whether it says so or not, is whole, and the next call continues another connection', async () => {
  const url = await serve((socket, connection) => {
    const silent = answerWith(`${connection}`);
    socket.end(connection === 1 ? silent : `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${connection}`);
  });
  const http = client();
  for (const connection of ['1', '2', '3']) expect(bodyOf(await get(http, url))).toBe(connection);
});

test('calls that wait after one whose connection fails get their turn', async () => {
  const url = `http://127.0.0.1:${await closedPort()}/`;
  const http = client(1);
  const outcomes = await Promise.all([1, 2, 3].map(() => get(http, url)));
  expect(outcomes).toMatchObject(Array(3).fill({ kind: 'failure', reason: 'refused', mayHaveArrived: false }));
});

test('calls whose time is over while they wait give up their turn unsent', async () => {
  let requests = 0;
  const url = await serve((socket) => {
    requests += 1;
    setTimeout(() => socket.write(answerWith('late')), 300);
  });
  const http = client(1);
  const [first, second] = await Promise.all([get(http, url), get(http, url, 100)]);
  expect(bodyOf(first)).toBe('late');
  expect(second).toMatchObject({ kind: 'failure', reason: 'timed-out', mayHaveArrived: false });
  expect(bodyOf(await get(http, url))).toBe('late');
  expect(requests).toBe(2);
});

test('closing ends what is under way and what waits', async () => {
  let requests = 0;
  const url = await serve(() => {
    requests += 1;
  });
  const http = client(1);
  const outcomes = Promise.all([get(http, url), get(http, url)]);
  await expect.poll(() => requests, { timeout: 10_000 }).toBe(1);
  await http.close();
  expect(await outcomes).toMatchObject([
    { kind: 'failure', reason: 'broken', mayHaveArrived: true },
    { kind: 'failure', reason: 'unreachable', mayHaveArrived: false },
  ]);
});

test('a connection that was opened in advance carries the first call', async () => {
  const url = await serve((socket, connection, request) => {
    socket.write(answerWith(`${request} of ${connection}`));
  });
  const http = client(1);
  http.prepare(new URL(url));
  http.prepare(new URL(url));
  const [first, second] = await Promise.all([get(http, url), get(http, url)]);
  expect([bodyOf(first), bodyOf(second)].sort()).toEqual(['1 of 1', '2 of 1']);
  await pause(10);
  http.prepare(new URL(url));
  expect(bodyOf(await get(http, url))).toBe('3 of 1');
});

test('a request that is answered before it was read frees its slot', async () => {
  const url = await serve((socket) => {
    socket.pause();
    socket.write(answerWith('enough'), () => setTimeout(() => socket.resume(), 50));
  });
  const http = client(1);
  const body = Buffer.alloc(30_000_000);
  const request = { ...BOUNDS, url: new URL(url), accept: '*/*', contentType: 'text/plain', body };
  for (const _call of [1, 2]) expect(bodyOf(await http.post(request))).toBe('enough');
});

test('an answer after an unexpected 100 Continue is found', async () => {
  const url = await serve((socket, connection, request) => {
    const first = 'HTTP/1.1 100 Continue\r\n\r\n';
    const second = 'HTTP/1.1 100\r\nx: y\r\n\r\n';
    if (request === 1) socket.write(first + second + answerWith(`${request} of ${connection}`));
    else socket.write(first, () => setTimeout(() => socket.write(answerWith(`${request} of ${connection}`)), 20));
  });
  const http = client();
  expect(bodyOf(await get(http, url))).toBe('1 of 1');
  expect(bodyOf(await get(http, url))).toBe('2 of 1');
});

test('bytes that a service sends before the request answer nothing, and the request uses another connection', async () => {
  const received: number[] = [];
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    const connection = connections;
    socket.on('data', () => {
      received.push(connection);
      socket.write(answerWith('answer'));
    });
    if (connection === 1) socket.write(answerWith('unasked'));
  });
  const isClosed = new Promise((resolve) => server.once('connection', (first) => first.once('close', resolve)));
  const url = new URL(`http://127.0.0.1:${await listen(server)}/`);
  const http = client();
  http.prepare(url);
  const beforeSend = async () => void (await isClosed);
  expect(bodyOf(await post(http, url.href, { beforeSend }))).toBe('answer');
  expect(received).toEqual([2]);
});

test('what is called directly before the first byte is called on the open connection, and nothing is sent if it throws', async () => {
  let requests = 0;
  const url = await serve((socket) => {
    requests += 1;
    socket.write(answerWith(`${requests}`));
  });
  const http = client();
  const failure = new Error('it must not be sent any more');
  const beforeWrite = (): never => {
    throw failure;
  };
  await expect(post(http, url, { beforeWrite })).rejects.toBe(failure);
  expect(requests).toBe(0);
  expect(bodyOf(await post(http, url, { beforeWrite: () => expect(requests).toBe(0) }))).toBe('1');
});
