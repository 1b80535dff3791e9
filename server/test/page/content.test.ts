/** What the page says, and that whatever clients and operators wrote stays text. */

import { expect, test } from 'vitest';
import { forAll } from '../../../test/support/set-up.ts';
import { addClient } from '../support/clients.ts';
import { basic, openApp } from '../support/in-process.ts';
import { addViewer, seedPage, seedRecords } from '../support/page-scene.ts';

const NOW = new Date('2030-06-15T12:00:00Z');

const server = await forAll(openApp(() => ({ now: () => NOW })));
const { store, folder } = server.data;
const emptyPage = await page(await addViewer(store));
const viewer = await seedPage(store, folder.database, NOW);
const body = await page();

async function page(by = viewer): Promise<string> {
  const answer = await server.app.inject({ method: 'GET', url: '/', headers: { authorization: basic(by) } });
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
  const free = shown.find((cells) => cells.at(-1) === 'AK-hostile-0');
  expect(free?.slice(1, 5)).toEqual(['none', 'none', 'expired 2030-06-14', '1']);
  expect(body).toContain('<meter value="0.500" high="0.9" optimum="0" aria-label="50 % used">');
});

test('shows the latest signatures first, with the report of their clients', () => {
  const shown = rows('calls');
  expect(shown).toHaveLength(15);
  expect(shown[1]).toEqual(['2030-06-15 09:36:00', 'setup.exe', 'Half', 'good', 'succeeded']);
  expect(shown.map(([, , client, , report]) => [client, report]).slice(4, 7)).toEqual([
    ['Half', 'not counted'],
    ['Full', 'failed'],
    ['Full', 'failed'],
  ]);
  expect(shown.map(([, file]) => file)).toContain(`${'W'.repeat(31)}…`);
});

test('says so if there is nothing yet', () => {
  expect(emptyPage).toMatch(/<h2 id="calls">Latest signatures<\/h2><p>None yet\.<\/p>/);
  expect(rows('clients', emptyPage)).toHaveLength(1);
});

test('shows the latest 50 signatures, and at most 200 clients with the number of further ones', async () => {
  seedRecords(folder.database, Array(60).fill({ clientId: 'half', certificate: 'good', signedAt: NOW }));
  for (let index = 0; index < 200; index++) await addClient(store);
  const many = await page();
  expect(rows('calls', many)).toHaveLength(50);
  expect(rows('clients', many)).toHaveLength(200);
  expect(many).toContain('<p>12 more are not shown; the commands list them all.</p>');
});

test('names with harmful content appear as text everywhere, with control and direction characters escaped', () => {
  expect(body).not.toMatch(/<script|<i>/i);
  expect(body).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  expect(body.match(/&#60;script&#62;window/g)?.length).toBeGreaterThan(1);
  expect(body).toContain('On call &#60;i&#62;');
});
