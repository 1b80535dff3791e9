/** Which records the page shows, page by page, and what of them is downloaded. */

import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminCommand } from '../support/commands.ts';
import { basic, type Credentials, NUMBER, openApp, type TestApp } from '../support/in-process.ts';
import { addViewer, type SeededRecord, seedRecords, type ViewerCredentials } from '../support/page-scene.ts';

const DAY = 86_400_000;
const START = Date.parse('2020-01-01T00:00:00Z');
const COUNT = 180;

let server: TestApp;
let viewer: ViewerCredentials;
let other: Credentials;
beforeAll(async () => {
  server = await openApp();
  viewer = await addViewer(server.data.store);
  other = await server.addClient();
  seedRecords(server.data.folder.database, records());
});
afterAll(() => server.close());

/** One a day; of those with the same remainder by 3 two share a time. */
function* records(): Generator<SeededRecord> {
  for (let index = 0; index < COUNT; index++) {
    const report = index % 4 === 0 ? 2 : index % 4 === 1 ? 1 : undefined;
    yield {
      id: `r${String(index).padStart(4, '0')}`,
      clientId: index % 10 === 0 ? other.clientId : server.credentials.clientId,
      certificate: index % 2 === 0 ? NUMBER : '1',
      signedAt: new Date(START + (index - (index % 3 === 1 ? 1 : 0)) * DAY),
      extra: { signing_filename: index === 7 ? 'C:\\builds\\Größe_100%.EXE' : `app-${index}.exe`, hostname: 'größe' },
      counted: index % 50 !== 0,
      ...(report && { report }),
    };
  }
}

const get = (url: string) => server.app.inject({ method: 'GET', url, headers: { authorization: basic(viewer) } });
/** The files of the records that a page shows, in its order. */
const files = (body: string) => [...body.matchAll(/<b>(app-\d+\.exe|Gr[^<]*)<\/b>/g)].map(([, name]) => name);
const filesOf = (indexes: readonly number[]) =>
  indexes.map((index) => (index === 7 ? 'Größe_100%.EXE' : `app-${index}.exe`));
const newestFirst = Array.from({ length: COUNT }, (_, index) => COUNT - 1 - index);
const link = (body: string, label: string) =>
  new RegExp(`<a class="button" href="([^"]*)">${label}`).exec(body)?.[1]?.replaceAll('&amp;', '&').split('#')[0];

test('shows size, host, platform and id of a record, and finds it by the start of its id or digest', async () => {
  const id = '01890a5d-ac96-774b-bcce-b302099a8057';
  const file = `${'very-'.repeat(30)}long.exe`;
  const extra = { signing_filename: file, signing_filesize: 1_234_567, hostname: 'build-7', platform: 'linux-x64' };
  const record = { id, clientId: other.clientId, certificate: '1', signedAt: new Date('2019-01-01'), extra };
  seedRecords(server.data.folder.database, [record]);
  const digest = id.replaceAll('-', '');
  for (const query of [
    `id=${id}`,
    'id=01890A5D',
    `id=%20${id}%20`,
    `digest=${digest}`,
    'digest=01890a5dac96%E2%80%A6',
  ]) {
    const { body, statusCode } = await get(`/?${query}`);
    expect(statusCode).toBe(200);
    for (const text of [`>${file}</b>`, '1.2 MB', 'build-7', 'linux-x64', `<code class="id">${id}</code>`]) {
      expect(body).toContain(text);
    }
    expect(body.match(/class="id"/g)).toHaveLength(1);
    expect((await get(`/records.csv?${query}`)).body.trim().split('\n')).toHaveLength(2);
  }
  expect((await get(`/?id=${id}`)).body).toContain(digest); // whole
  for (const query of ['id=1890', 'digest=890a', 'id=%25', 'id=_', 'digest=f00']) {
    expect((await get(`/?${query}`)).body).not.toContain(id);
  }
  expect((await get('/?digest=xyz')).statusCode).toBe(400);
  const database = new Database(server.data.folder.database);
  database.prepare('delete from records where id = ?').run(id);
  database.close();
});

describe('the pages', () => {
  test('have 50 records each, newest first, and follow each other without a gap in both directions', async () => {
    const seen: (string | undefined)[][] = [];
    let address: string | undefined = '/';
    const bodies: string[] = [];
    while (address !== undefined) {
      const { body, statusCode } = await get(address);
      expect(statusCode).toBe(200);
      bodies.push(body);
      seen.push(files(body));
      address = link(body, 'Older');
    }
    expect(seen.map(({ length }) => length)).toEqual([50, 50, 50, 30]);
    expect(seen.flat()).toEqual(filesOf(newestFirst));
    expect(link(bodies[0] ?? '', '← Newer')).toBeUndefined();
    expect(link(bodies[0] ?? '', 'Latest')).toBeUndefined();

    const third = await get(link(bodies[3] ?? '', '← Newer') ?? '');
    expect(files(third.body)).toEqual(seen[2]);
    const second = await get(link(third.body, '← Newer') ?? '');
    expect(files(second.body)).toEqual(seen[1]);
    const first = await get(link(second.body, '← Newer') ?? '');
    expect(files(first.body)).toEqual(seen[0]);
    expect(files((await get(link(second.body, 'Latest') ?? '')).body)).toEqual(seen[0]);
  });

  test('keep filter and days', async () => {
    const { body } = await get('/?report=none&days=90');
    const older = link(body, 'Older') ?? '';
    expect(older).toContain('report=none');
    expect(older).toContain('days=90');
    const next = await get(older);
    const all = [...files(body), ...files(next.body)];
    expect(all).toEqual(filesOf(newestFirst.filter((index) => index % 4 > 1)));
  });
});

const FILTERS: readonly (readonly [string, () => string, (index: number) => boolean])[] = [
  ['a client', () => `client=${other.accessKey}`, (index) => index % 10 === 0],
  ['a certificate', () => `certificate=1&until=2020-03-01`, (index) => index % 2 === 1 && index < 60],
  ['the first day', () => 'until=2020-01-02', (index) => index < 2],
  ['a time in a day', () => 'since=2020-06-27T12:00:00Z', (index) => index === 179],
  ['days', () => 'since=2020-01-10&until=2020-01-31', (index) => index >= 9 && index < 30],
  ['what succeeded', () => 'report=succeeded', (index) => index % 4 === 1],
  ['what failed', () => 'report=failed', (index) => index % 4 === 0],
  ['a file, in capitals or not', () => 'file=APP-17', (index) => index === 17 || (index >= 170 && index < 180)],
  ['letters beyond ASCII, in capitals or not', () => `file=${encodeURIComponent('GRÖßE_')}`, (index) => index === 7],
  ['a part with signs of its own', () => `file=${encodeURIComponent('ße_100%')}`, (index) => index === 7],
  ['a sign that stands for any in databases', () => 'file=%25', (index) => index === 7],
  ['no folder, which is never shown', () => 'file=builds', () => false],
  ['no other member of extra', () => `file=${encodeURIComponent('größe')}`, (index) => index === 7],
  [
    'several things',
    () => `client=${other.accessKey}&report=failed&certificate=${NUMBER}`,
    (index) => index % 20 === 0,
  ],
  ['empty fields', () => 'client=&certificate=&since=&until=&report=&file=app-33', (index) => index === 33],
];

describe.each(FILTERS)('a filter of %s', (_name, query, fits) => {
  test('shows what fits, and nothing else', async () => {
    const { statusCode, body } = await get(`/?${query()}`);
    expect(statusCode).toBe(200);
    expect(files(body)).toEqual(filesOf(newestFirst.filter(fits)).slice(0, 50));
  });

  test('downloads what fits, oldest first', async () => {
    const { statusCode, body, headers } = await get(`/records.csv?${query()}`);
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toMatch(/^attachment; filename="signatures-\d{4}-\d\d-\d\d\.csv"$/);
    const ids = body
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[0]);
    const expected = newestFirst.filter(fits).toReversed();
    expect(ids).toEqual(expected.map((index) => `r${String(index).padStart(4, '0')}`));
  });
});

test.each([
  ['', []],
  ['certificate=1', ['--certificate', '1']],
  ['since=2020-02-01&until=2020-03-01T12:00:00Z', ['--since', '2020-02-01', '--until', '2020-03-01T12:00:00Z']],
])('the download of "%s" is what export writes, and holds no signature', async (query, options) => {
  const { body } = await get(`/records.csv?${query}`);
  const data = join(server.data.folder.path, '..');
  expect(body).toBe((await adminCommand(['export', ...options, '--data', data])).output);
  expect(body).not.toContain(Buffer.alloc(384, 1).toString('base64').slice(0, 20));
});

test('the download is named after what it holds, and its address after the filter', async () => {
  expect((await get('/')).body).toContain('href="/records.csv" download>Download all as CSV');
  const { body } = await get('/?report=failed&file=%26x&days=90');
  expect(body).toContain('href="/records.csv?report=failed&amp;file=%26x" download>Download what is filtered as CSV');
});

describe('a query that cannot be used', () => {
  test.each([
    ['client=nobody', 'client'],
    ['client=a%00b', 'client'],
    ['certificate=999', 'certificate'],
    ['since=yesterday', 'since'],
    ['until=2020-13-01', 'until'],
    ['report=perhaps', 'report'],
    ['report=constructor', 'report'],
    ['days=10000', 'days'],
    ['before=x', 'before'],
    ['before=2020-99-01T00:00:00.000Z,r0001', 'before'],
    ['after=2020-01-01T00:00:00.000Z,%00', 'after'],
    [`file=${'x'.repeat(4097)}`, 'file'],
  ])('is rejected by name: %s', async (query, name) => {
    const { statusCode, body } = await get(`/?${query}`);
    expect(statusCode).toBe(400);
    expect(body).toMatch(new RegExp(`role="alert">.*<li>${name} `, 's'));
    expect(files(body)).toEqual([]);
    const download = await get(`/records.csv?${query}`);
    expect(download.statusCode).toBe(400);
    expect(download.headers['content-type']).toBe('text/html; charset=utf-8');
  });

  test('is shown in the form again, to be corrected', async () => {
    const { body } = await get('/?since=yesterday&file=%22%3E%3Cb%3E');
    expect(body).toContain('type="text" value="yesterday"');
    expect(body).toContain('value="&quot;&gt;&lt;b&gt;"');
  });

  test('has no unknown members, and none twice', async () => {
    expect((await get('/?utm=1&file=app-33&file=app-34&__proto__=1')).statusCode).toBe(200);
    expect((await get('/?%E0%A4%A')).statusCode).toBe(200);
  });
});

test('what is signed during a download is not in it, so that it ends', async () => {
  const later = new Date(Date.now() + 60_000);
  const { clientId } = server.credentials;
  seedRecords(server.data.folder.database, [{ id: 'later', clientId, certificate: '1', signedAt: later }]);
  expect((await get('/records.csv')).body).not.toContain('later,');
  expect((await get('/records.csv')).body).toContain('r0179,');
});
