/** Pages and downloads next to other work: how many may run concurrently, and what happens to aborted ones. */

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Store } from '../../src/records/store.ts';
import { basic, goodRequest, openApp, type TestApp } from '../support/in-process.ts';
import { addViewer, manyRecords, seedRecords, type ViewerCredentials } from '../support/page-scene.ts';

/** More than sockets hold for a reader who does not read. */
const MANY = 40_000;

let server: TestApp;
let viewer: ViewerCredentials;
/** What the database waits for before it adds up days, and how often it was asked to. */
let held: Promise<void> = Promise.resolve();
let asks = 0;
/** Once for all: the last test ends it. */
beforeAll(async () => {
  server = await openApp(({ store }) => {
    const perDay: Store['records']['perDay'] = async (...days) => {
      asks += 1;
      await held;
      return await store.records.perDay(...days);
    };
    return { store: { ...store, records: { ...store.records, perDay } } };
  });
  viewer = await addViewer(server.data.store);
  const scene = { count: MANY, days: 10, until: new Date(Date.now() - 1000) };
  seedRecords(server.data.folder.database, manyRecords([server.credentials.clientId], ['1'], scene));
  await server.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => server.close());

const page = (url = '/') => server.app.inject({ method: 'GET', url, headers: { authorization: basic(viewer) } });
const outcomes = () => server.log().filter(({ operation }) => operation === 'page');

/** The beginning of a download whose rest no one reads. */
async function stalledDownload(): Promise<IncomingMessage> {
  const { port } = server.app.server.address() as AddressInfo;
  const headers = { authorization: basic(viewer) };
  const call = httpsGet({
    host: '127.0.0.1',
    port,
    path: '/records.csv',
    headers,
    rejectUnauthorized: false,
    agent: false,
  });
  const [response] = await once(call, 'response');
  response.on('error', () => {}); // it is broken off on purpose
  response.once('readable', () => {});
  return response;
}

test('two pages are made concurrently and sixteen wait; further ones get a Retry-After, and signing does not', async () => {
  let goOn = () => {};
  held = new Promise((resolve) => {
    goOn = resolve;
  });
  const asked = Array.from({ length: 20 }, () => page());
  const early: Awaited<(typeof asked)[number]>[] = [];
  for (const answer of asked) void answer.then((settled) => early.push(settled));
  await vi.waitFor(() => expect(early).toHaveLength(2));
  for (const answer of early) {
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('5');
    expect(answer.json()).toMatchObject({ code: 503, data: null });
  }
  expect(outcomes().at(-1)).toMatchObject({ outcome: 'refused', reason: 'busy', status: 503 });
  expect(asks).toBe(2);
  expect((await server.sign(goodRequest())).body.code).toBe(0);
  goOn();
  const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode);
  expect(statuses.sort()).toEqual([...Array(18).fill(200), 503, 503]);
  expect((await page()).statusCode).toBe(200);
});

test('four downloads run concurrently; an aborted one frees its slot', async () => {
  const stalled = await Promise.all([1, 2, 3, 4].map(stalledDownload));
  expect(stalled.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  const refused = await page('/records.csv');
  expect(refused.statusCode).toBe(503);
  expect(refused.headers['content-disposition']).toBeUndefined();
  expect(refused.json()).toMatchObject({ code: 503 });
  expect((await server.sign(goodRequest())).body.code).toBe(0);

  stalled[0]?.destroy();
  await vi.waitFor(() => expect(outcomes().at(-1)).toMatchObject({ outcome: 'download-broken' }), 10_000);
  const next = await page('/records.csv');
  expect(next.statusCode).toBe(200);
  expect(next.body.split('\n').length).toBeGreaterThan(MANY + 2); // a heading, what was just signed, and the end
  for (const response of stalled) response.destroy();
});

test('the end of the server does not wait for who does not read', async () => {
  const response = await stalledDownload();
  const broken = new Promise((resolve) => response.once('close', resolve));
  await server.app.close();
  response.resume();
  await broken;
  expect(response.complete).toBe(false); // so that the reader sees that something is missing
  expect(outcomes().some(({ outcome }) => outcome === 'download-broken')).toBe(true);
});
