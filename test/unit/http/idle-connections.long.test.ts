/** Requests use connections that were idle for less than a second, and new ones, but never dead ones. */

import { stat } from 'node:fs/promises';
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import type { Outcome } from '../../../src/http/request.ts';
import { listen } from '../../support/network/listen.ts';
import { openHttp, post } from './support/http-setting.ts';

function openPost(url: string, connections?: number, deadlineMilliseconds = 5000): () => Promise<Outcome> {
  const client = openHttp({ connections });
  return () => post(client, url, { deadlineMilliseconds });
}

async function startCounting(headers: Record<string, string>) {
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume().on('end', () => response.writeHead(200, headers).end('{}'));
  });
  const { port, connections, stop } = await listen(server);
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${port}/`, connections };
}

test.each([
  [undefined, 300, 1],
  [60, 1000, 2],
  [2, 0, 2],
  [3, 200, 1],
])('told a keep-alive time of %s s, requests %i ms apart use %i connections', async (seconds, wait, expected) => {
  const { url, connections } = await startCounting(seconds ? { 'keep-alive': `timeout=${seconds}, max=100` } : {});
  const call = openPost(url);
  let idle = 0;
  let before = 0;
  // On a busy machine, a connection may be idle for longer than intended.
  do {
    await call();
    const since = performance.now();
    before = connections();
    await pause(wait);
    await call();
    idle = performance.now() - since;
  } while (wait < 1000 && idle > 700);
  expect(connections() - before).toBe(expected - 1);
});

/** In a thread of its own, so that it continues while this one is blocked. Gives its address. */
async function startThread(answer: string): Promise<string> {
  const source = `
    const server = require('node:http').createServer((request, response) => {
      request.resume().on('end', () => { ${answer} });
    });
    server.listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port));`;
  const worker = new Worker(source, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  return `http://127.0.0.1:${port}/`;
}

test('a connection that the service closed while this program was busy is detected', async () => {
  const closing = 'response.end("{}"); setTimeout(() => request.socket.destroy(), 100);';
  const call = openPost(await startThread(closing));
  expect(await call()).toMatchObject({ kind: 'answer' });
  // The call begins directly after the busy time: in the network phase of the event loop, and in the timer phase.
  for (const moment of ['network', 'timer']) {
    expect(await call()).toMatchObject({ kind: 'answer' });
    if (moment === 'timer') await pause(10);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    expect(await call()).toMatchObject({ kind: 'answer' });
  }
});

test('an answer that came while this program was suspended is used, although its time is over', async () => {
  const call = openPost(await startThread('setTimeout(() => response.end("{}"), 500);'), 1, 1500);
  expect(await call()).toMatchObject({ kind: 'answer' });
  const answering = call();
  await pause(250);
  // The suspension begins in the network phase, so timers run before later data is read.
  await stat(import.meta.dirname);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
  expect(await answering).toMatchObject({ kind: 'answer' });
});
