/** The page over a hundred thousand records: how long it takes, that only an index is read for its days, and that signing continues. */

import Database from 'libsql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { csvOf } from '../../src/page/records.ts';
import { basic, goodRequest, openApp, type TestApp } from '../support/in-process.ts';
import { addViewer, manyRecords, seedRecords, type ViewerCredentials } from '../support/page-scene.ts';

const RECORDS = 100_000;
const DAYS = 120;

let server: TestApp;
let viewer: ViewerCredentials;
let quiet: string;
beforeAll(async () => {
  server = await openApp();
  viewer = await addViewer(server.data.store);
  const rare = await server.addClient();
  quiet = rare.accessKey;
  const until = new Date(Date.now() - 60_000);
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) ids.push((await server.addClient()).clientId);
  seedRecords(server.data.folder.database, manyRecords(ids, ['1', 'rsa-2048'], { count: RECORDS, days: DAYS, until }));
  const oldest = {
    clientId: rare.clientId,
    certificate: '1',
    signedAt: new Date(until.getTime() - 2 * DAYS * 86_400_000),
  };
  seedRecords(server.data.folder.database, [oldest]);
});
afterAll(() => server.close());

const get = (url: string) => server.app.inject({ method: 'GET', url, headers: { authorization: basic(viewer) } });

/** Processor time of one page in milliseconds, the median of five: others may use the machine as well. */
async function cost(url: string): Promise<number> {
  const costs: number[] = [];
  for (let round = 0; round < 5; round++) {
    const before = process.cpuUsage();
    expect((await get(url)).statusCode).toBe(200);
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / 1000);
  }
  return costs.sort((a, b) => a - b)[2] ?? Number.NaN;
}

test.each([
  ['the latest', '/', 300],
  ['90 days', '/?days=90', 300],
  ['a time before everything', '/?until=2020-01-01', 300],
  // These look at every record there is, one batch after the other.
  ['the one record of a client', () => `/?client=${quiet}`, 1500],
  ['a name that no file has', '/?file=no-such-name', 1500],
])('%s: the page takes its time in processor and no more', async (name, url, limit) => {
  const taken = await cost(typeof url === 'string' ? url : url());
  console.info(`${name}: ${Math.round(taken)} ms`);
  expect(taken).toBeLessThan(limit);
});

test('days and places in the records are read from the index alone', () => {
  const file = new Database(server.data.folder.database);
  const planOf = (sql: string) =>
    file
      .prepare(`explain query plan ${sql}`)
      .all()
      .map((row) => (row as { readonly detail: string }).detail)
      .join('; ');
  const days = planOf(
    `select substr(signed_at, 1, 10) as day, counted, report_status, count(*) from records
     where signed_at >= '2030-01-01' and signed_at < '2030-02-01' group by day, counted, report_status`,
  );
  expect(days).toMatch(/SEARCH records USING COVERING INDEX records_by_time \(signed_at>\? AND signed_at<\?\)/);
  const place = planOf(
    `select signed_at, id from records where (signed_at, id) < ('2030-01-01', 'x') order by signed_at desc, id desc limit 1 offset 99`,
  );
  expect(place).toMatch(
    /^SEARCH records USING COVERING INDEX records_by_time \(\(signed_at,id\)<\(\?,\?\)\)$|^SEARCH records USING COVERING INDEX records_by_time \(signed_at<\?\)$/,
  );
  file.close();
});

test('a download of all of it is made piece by piece', async () => {
  const { records, clients } = server.data.store;
  let lines = -1; // the heading
  for await (const piece of csvOf(records, {}, await clients.list(), new Date())) {
    const inPiece = piece.split('\n').length - 1;
    expect(inPiece).toBeLessThanOrEqual(2000);
    lines += inPiece;
  }
  expect(lines).toBe(RECORDS + 1);
});

test('signatures are made next to a search through everything, and none waits for its end', async () => {
  const searched = cost('/?file=no-such-name');
  let done = false;
  void searched.finally(() => {
    done = true;
  });
  const taken: number[] = [];
  while (!done) {
    const start = performance.now();
    expect((await server.sign(goodRequest())).body.code).toBe(0);
    taken.push(performance.now() - start);
  }
  await searched;
  taken.sort((a, b) => a - b);
  const median = taken[taken.length >> 1] ?? Number.NaN;
  console.info(
    `${taken.length} signatures, ${Math.round(median)} ms each (median), ${Math.round(taken.at(-1) ?? 0)} ms at most`,
  );
  expect(taken.length).toBeGreaterThan(25);
});
