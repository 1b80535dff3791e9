/** What the page says, and that whatever clients and operators wrote stays text. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { basic, openApp, type TestApp } from '../support/in-process.ts';
import { addViewer, seedRecords, type ViewerCredentials } from '../support/page-scene.ts';

const DAY = 86_400_000;
const NOW = new Date('2030-06-15T12:00:00Z');
const ago = (days: number) => new Date(NOW.getTime() - days * DAY);

const HOSTILE =
  "<script>alert(1)</script><img src=x onerror=alert(1)>\" autofocus onfocus='alert(1)'&lt;\u202egpj\u2066\u0007\u001b[2J";

let server: TestApp;
let viewer: ViewerCredentials;
let emptyPage: string;
let body: string;
beforeAll(async () => {
  server = await openApp(() => ({ now: () => NOW }));
  const { store, folder } = server.data;
  viewer = await addViewer(store, { name: 'On call <i>' });
  emptyPage = await page('/');

  const [certificate] = await store.certificates.list();
  if (certificate === undefined) throw new Error('no certificate');
  for (const [number, notBefore, notAfter] of [
    ['over', ago(400), ago(3)],
    ['soon', ago(300), ago(-29.5)],
    ['next', ago(-2), ago(-700)],
    ['good', ago(1), ago(-365.5)],
    ['hours', ago(1), ago(-0.5)],
  ] as const) {
    await store.certificates.add({ ...certificate, number, notBefore, notAfter }, NOW);
  }
  await store.certificates.add({ ...certificate, number: 'broken', chain: 'none' }, NOW);
  const client = async (id: string, more: object) =>
    await store.clients.add({ id, accessKey: `AK-${id}`, secretDigest: Buffer.alloc(32), ...noBounds, ...more }, NOW);
  await client('half', { name: 'Half', quota: 10 });
  await client('full', { name: 'Full', quota: 2 });
  await client('nearly', { name: 'Nearly', quota: 100 });
  await client('none', { name: 'Zero', quota: 0 });
  await client('free', { name: HOSTILE, expiresAt: ago(1) });
  await store.clients.change('AK-none', { disabled: true });
  const signed = (clientId: string, count: number, more: object) =>
    Array.from({ length: count }, () => ({ clientId, certificate: 'good', signedAt: NOW, ...more }));
  seedRecords(folder.database, [
    ...signed('half', 4, { signedAt: ago(0.1), report: 1 }),
    ...signed('half', 1, { signedAt: ago(0.1), counted: false }),
    ...signed('full', 2, { signedAt: ago(29), report: 2 }),
    ...signed('nearly', 95, { signedAt: ago(60) }),
    ...signed('free', 1, { extra: { signing_filename: `a/${HOSTILE.replaceAll('/', '')}`, hostname: HOSTILE } }),
    ...signed('free', 1, { signedAt: ago(500) }),
  ]);
  body = await page('/');
});
afterAll(() => server.close());

const noBounds = {
  name: undefined,
  certificates: undefined,
  algorithms: undefined,
  quota: undefined,
  expiresAt: undefined,
};

async function page(url: string): Promise<string> {
  const answer = await server.app.inject({ method: 'GET', url, headers: { authorization: basic(viewer) } });
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  return answer.body;
}

/** The texts of the cells of a section's table, row by row. */
function rows(section: string, of = body): readonly (readonly string[])[] {
  const [, text = ''] = of.split(`<section id="${section}"`);
  const [table = ''] = text.split('</section>');
  return [...table.matchAll(/<tr role="row"><th role="rowheader"(.*?)<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<div>(.*?)<\/div>/gs)].map(([, cell = '']) =>
      cell
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    ),
  );
}

describe('the certificates', () => {
  test.each([
    ['over', 'expired 3 days ago'],
    ['soon', 'ends soon 29 days left'],
    ['hours', 'ends soon 12 hours left'],
    ['next', 'not valid yet 2 days to go'],
    ['good', 'valid 365 days left'],
  ])('%s: %s', (number, state) => {
    expect(
      rows('certificates')
        .find(([first]) => first === number)
        ?.at(-1),
    ).toBe(state);
  });

  test('come in the order of their ends, with whom they are issued to and the size of their keys', () => {
    const numbers = rows('certificates').map(([number]) => number);
    expect(numbers).toEqual(['hours', 'soon', 'good', 'next', '1', 'broken', 'rsa-2048', 'over']);
    const good = ['good', 'Code Signing', 'RSA 3072', '2030-06-14', '2031-06-16'];
    expect(
      rows('certificates')
        .find(([first]) => first === 'good')
        ?.slice(0, 5),
    ).toEqual(good);
  });

  test('are shown next to one that cannot be read', () => {
    expect(rows('certificates').find(([first]) => first === 'broken')?.[1]).toBe('cannot be read');
  });
});

test('quotas: bar, numbers and state of each client, the most used first', () => {
  const shown = rows('clients');
  expect(shown.slice(0, 4).map(([name, , state, used]) => [name, state, used])).toEqual([
    ['Full', 'active', '2 of 2 (100 %), used up'],
    ['Zero', 'disabled', '0 of 0 (100 %), used up'],
    ['Nearly', 'active', '95 of 100 (95 %), 5 left'],
    ['Half', 'active', '4 of 10 (40 %), 6 left'],
  ]);
  const free = shown.find(([, accessKey]) => accessKey === 'AK-free');
  expect(free?.slice(2)).toEqual(['expired 2030-06-14', '2 signatures, without a bound']);
  expect(body).toMatch(
    /<svg class="quota soon"[^>]*role="img" aria-label="95 % used"><rect class="all"[^>]*><rect class="used" width="95"/,
  );
});

describe('the days', () => {
  const day = (of: string, name: string) =>
    new RegExp(`<th scope="row">${name}</th>(.*?)</tr>`).exec(of)?.[1]?.match(/\d+/g)?.map(Number);

  test('are added up by what was reported, and what does not count is distinguished', () => {
    // succeeded, failed, not reported, counted, not counted
    expect(day(body, '2030-06-15')).toEqual([4, 0, 1, 5, 1]);
    expect(day(body, '2030-05-17')).toEqual([0, 2, 0, 2, 0]);
    expect(body).toContain('<title>2030-06-15: 4 reported as succeeded, 0 reported as failed, 1 not reported</title>');
    expect(body).toContain(
      'aria-label="Bars: 7 signatures from 2030-05-17 to 2030-06-15, at most 5 on one day (2030-06-15)."',
    );
    expect(body.match(/<g><title>/g)).toHaveLength(30);
  });

  test('are 30, or 90 where that is requested, and nothing else is counted', async () => {
    expect(day(body, '2030-04-16')).toBeUndefined();
    const longer = await page('/?days=90');
    expect(day(longer, '2030-04-16')).toEqual([0, 0, 95, 95, 0]);
    expect(longer.match(/<g><title>/g)).toHaveLength(90);
    expect(longer).toContain('<a href="/?days=90#days" aria-current="true">90 days</a>');
    expect(longer).not.toContain('<title>2029-');
  });

  test('have bars whose parts stand on each other, up to a round number', () => {
    const [, bar = ''] = /<title>2030-06-15:[^<]*<\/title>(.*?)<\/g>/.exec(body) ?? [];
    expect(bar).toContain('class="succeeded" x="29.12" y="2" width="0.76" height="4"');
    expect(bar).toContain('class="none" x="29.12" y="1" width="0.76" height="1"');
    expect(body).toContain('viewBox="0 0 30 6"');
  });
});

test('says so where there is nothing yet', () => {
  expect(emptyPage).toContain('Nothing was signed from 2030-05-17 to 2030-06-15 (UTC).');
  expect(emptyPage).toContain('Nothing was signed yet.');
  expect(rows('clients', emptyPage)).toEqual([expect.arrayContaining(['no name', 'active'])]);
});

test('says so where nothing fits', async () => {
  const shown = await page('/?file=nothing-like-it');
  expect(shown).toContain('No signature fits the filter.');
  expect(rows('records', shown)).toEqual([]);
});

describe('names that were made to do harm', () => {
  test('stay text in every place, with what would steer or turn writing round written out', async () => {
    const filtered = await page(`/?client=AK-free&file=${encodeURIComponent('&lt;\u202eGPJ\\u2066')}`);
    expect(rows('records', filtered)).toHaveLength(1);
    for (const text of [body, filtered, await page(`/?file=${encodeURIComponent(HOSTILE)}`)]) {
      expect(text).not.toMatch(/<script|<img|<i>/i);
      expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
    }
    expect(body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(body).toContain('\\u202egpj\\u2066\\u0007\\u001b[2J');
    expect(body).toContain('On call &lt;i&gt;');
  });

  test('are nowhere in attributes without their quotes escaped', () => {
    // No attribute value contains a character that ends the attribute.
    for (const [, value = ''] of body.matchAll(/ (?:value|aria-label|data-label|href|title)="([^"]*)"/g)) {
      expect(value).not.toMatch(/[<>']/);
    }
  });
});

test('shows no more than 200 clients, and says how many there are besides', async () => {
  const { store } = server.data;
  for (let index = 0; index < 200; index++) {
    const id = `many-${index}`;
    await store.clients.add({ id, accessKey: `AK-${id}`, secretDigest: Buffer.alloc(32), ...noBounds }, NOW);
  }
  const many = await page('/');
  expect(rows('clients', many)).toHaveLength(200);
  expect(many).toContain('6 clients with less used are not shown');
  expect(many).toContain('<input id="client" name="client"'); // too many to choose from a list
});

test('whole names and times are where a reader of the page needs them', () => {
  expect(body).toContain('<html lang="en">');
  expect(body).toContain('As of <time datetime="2030-06-15T12:00:00.000Z">2030-06-15 12:00:00</time> UTC');
  expect(body.match(/<h1/g)).toHaveLength(1);
  const ids = [...body.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [, target] of body.matchAll(/ (?:for|aria-labelledby|href="#)="?([a-z-]+)"/g))
    expect(ids).toContain(target);
  expect(body).not.toMatch(/ style=|<script|javascript:|https?:\/\/(?!www\.w3\.org)/);
});
