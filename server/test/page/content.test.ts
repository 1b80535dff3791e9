/** What the page says, and that whatever clients and operators wrote stays text. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Credentials } from '../support/clients.ts';
import { addClient } from '../support/clients.ts';
import { basic, openApp, type TestApp } from '../support/in-process.ts';
import { addViewer, seedRecords } from '../support/page-scene.ts';

const DAY = 86_400_000;
const NOW = new Date('2030-06-15T12:00:00Z');
const ago = (days: number) => new Date(NOW.getTime() - days * DAY);

const HOSTILE = "<script>alert(1)</script>\" autofocus onfocus='alert(1)'\u202egpj\u2066\u0007\u001b[2J";

let server: TestApp;
let viewer: Credentials;
let emptyPage: string;
let body: string;
beforeAll(async () => {
  server = await openApp(() => ({ now: () => NOW }));
  const { store, folder } = server.data;
  viewer = await addViewer(store, { name: 'On call <i>' });
  emptyPage = await page();

  const [certificate] = await store.certificates.list();
  if (certificate === undefined) throw new Error('no certificate');
  for (const [number, notBefore, notAfter] of [
    ['over', ago(400), ago(3)],
    ['soon', ago(300), ago(-29.5)],
    ['next', ago(-2), ago(-700)],
    ['good', ago(1), ago(-365.5)],
  ] as const) {
    await store.certificates.add({ ...certificate, number, notBefore, notAfter }, NOW);
  }
  await store.certificates.add({ ...certificate, number: 'broken', chain: 'none' }, NOW);
  await store.certificates.disable('broken', true);
  const client = (id: string, more: object) => addClient(store, { id, accessKey: `AK-${id}`, ...more });
  await client('half', { name: 'Half', quota: 8, monthlyQuota: 10 });
  await client('full', { name: 'Full', quota: 2 });
  await client('none', { name: 'Zero', quota: 0 });
  await client('free', { name: HOSTILE.slice(0, 32), expiresAt: ago(1) });
  await store.clients.change('AK-none', { disabled: true });
  const signed = (clientId: string, count: number, more: object) =>
    Array.from({ length: count }, () => ({ clientId, certificate: 'good', signedAt: NOW, ...more }));
  seedRecords(folder.database, [
    ...signed('half', 4, { signedAt: ago(0.1), report: 1, extra: { signing_filename: 'setup.exe' } }),
    ...signed('half', 1, { signedAt: ago(0.2), counted: false }),
    ...signed('full', 2, { signedAt: ago(29), report: 2 }),
    ...signed('free', 1, { extra: { signing_filename: `a/${HOSTILE.slice(0, 32).replaceAll('/', '')}` } }),
    ...signed('free', 1, { signedAt: ago(500), extra: { signing_filename: 'W'.repeat(4000) } }),
  ]);
  body = await page();
});
afterAll(() => server.close());

async function page(): Promise<string> {
  const answer = await server.app.inject({ method: 'GET', url: '/', headers: { authorization: basic(viewer) } });
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  return answer.body;
}

/** The texts of the cells of a section's table, row by row. */
function rows(section: string, of = body): readonly (readonly string[])[] {
  const [, text = ''] = of.split(`<h2 id="${section}"`);
  const [table = ''] = text.split('</section>');
  return [...table.matchAll(/<tr>(<td>.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<td>(.*?)<\/td>/gs)].map(([, cell = '']) =>
      cell
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    ),
  );
}

test('shows when each certificate ends, the next to end first', () => {
  const shown = rows('certificates').map(([number, , until, state]) => [number, until, state]);
  expect(shown.map(([number]) => number)).toEqual(['soon', 'good', 'next', '1', 'broken', 'rsa-2048', 'over']);
  expect(shown.filter(([number]) => !['1', 'rsa-2048'].includes(number ?? ''))).toMatchObject([
    ['soon', '2030-07-15', 'ends soon 29 days left'],
    ['good', '2031-06-16', '365 days left'],
    ['next', '2032-05-15', 'not valid yet'],
    ['broken', expect.anything(), 'disabled'],
    ['over', '2030-06-12', 'expired 3 days ago'],
  ]);
  expect(rows('certificates').find(([number]) => number === 'good')?.[1]).toBe('Code Signing');
  expect(rows('certificates').find(([number]) => number === 'broken')?.[1]).toBe('cannot be read');
});

test('shows what each client has used of its quota, the most used first', () => {
  const shown = rows('clients');
  expect(shown.slice(0, 3)).toEqual([
    ['Full', 'used up of 2', 'none', 'active', '2', 'AK-full'],
    ['Zero', 'used up of 0', 'none', 'disabled', '0', 'AK-none'],
    ['Half', '4 left of 8', '10 left of 10', 'active', '4', 'AK-half'],
  ]);
  const free = shown.find((cells) => cells.at(-1) === 'AK-free');
  expect(free?.slice(1, 5)).toEqual(['none', 'none', 'expired 2030-06-14', '2']);
  expect(body).toContain('<meter value="0.500" high="0.9" optimum="0" aria-label="50 % used">');
});

test('shows the latest signatures first, with the report of their clients', () => {
  const shown = rows('calls');
  expect(shown).toHaveLength(9);
  expect(shown[1]).toEqual(['2030-06-15 09:36:00', 'setup.exe', 'Half', 'good', 'succeeded']);
  expect(shown.map(([, , client, , report]) => [client, report]).slice(5, 8)).toEqual([
    ['Half', 'not counted'],
    ['Full', 'failed'],
    ['Full', 'failed'],
  ]);
  expect(shown[8]?.[1]).toBe(`${'W'.repeat(31)}…`);
});

test('says so if there is nothing yet', () => {
  expect(emptyPage).toMatch(/<h2 id="calls">Latest signatures<\/h2><p>None yet\.<\/p>/);
  expect(rows('clients', emptyPage)).toHaveLength(1);
});

test('shows the latest 50 signatures, and at most 200 clients with the number of further ones', async () => {
  const record = { clientId: 'half', certificate: 'good', signedAt: ago(200) };
  seedRecords(
    server.data.folder.database,
    Array.from({ length: 60 }, () => record),
  );
  for (let index = 0; index < 200; index++) await addClient(server.data.store);
  const many = await page();
  expect(rows('calls', many)).toHaveLength(50);
  expect(rows('clients', many)).toHaveLength(200);
  expect(many).toContain('<p>5 more are not shown; the commands list them all.</p>');
});

test('names with harmful content appear as text everywhere, with control and direction characters escaped', () => {
  expect(body).not.toMatch(/<script|<i>/i);
  expect(body).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  expect(body.match(/&#60;script&#62;alert\(1\)/g)?.length).toBeGreaterThan(1);
  expect(body).toContain('On call &#60;i&#62;');
});
