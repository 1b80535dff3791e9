/** The page of a real server in a real browser: that it is readable, and runs nothing. */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { startServer } from '../../../test/support/services/server.ts';
import { forAll } from '../../../test/support/set-up.ts';
import { prepareTables } from '../../src/records/migrations.ts';
import { openSqliteStore } from '../../src/records/sqlite.ts';
import { HOSTILE, seedPage } from '../support/page-scene.ts';

/** Without a sandbox, because the tests may run as root in a container, and without requests to other machines. */
const ARGUMENTS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];

const server = await forAll(startServer({ bits: 2048 }));
const database = join(server.data, 'service', 'database.sqlite');
const store = await openSqliteStore(database, prepareTables('use'));
const viewer = await seedPage(store, database, new Date());
await store.close();
const executablePath = process.env.CODESIGN_TEST_CHROMIUM || PLACES.find(existsSync);
const browser = await forAll(chromium.launch({ args: ARGUMENTS, ...(executablePath && { executablePath }) }));

/** Opens the page as a viewer, and holds that the browser complained of nothing while the test looked. */
async function looking(look: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> {
  await using context = await browser.newContext({
    ignoreHTTPSErrors: true, // its authority is of this run only; what the certificate is worth, others test
    httpCredentials: { username: viewer.accessKey, password: viewer.accessSecret },
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`));
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(server.baseUrl) && !request.url().startsWith('data:'))
      complaints.push(`elsewhere: ${request.url()}`);
  });
  await page.goto(server.baseUrl);
  await look(page);
  expect(complaints).toEqual([]);
  expect(await page.evaluate('window.harmed')).toBeUndefined();
}

test('shows its content, runs nothing that clients sent, and requests nothing from elsewhere', async () => {
  await looking(async (page) => {
    expect(await page.title()).toBe('Codesign server');
    const files = await page.locator('#calls + figure tbody td:nth-child(2)').allInnerTexts();
    expect(files).toContain(`${HOSTILE[1]?.slice(0, 31)}…`);
    expect(await page.locator('#calls + figure').innerText()).toContain('\\u202egpj.exe\\u2066\\u001b[31m\\u0000');
    expect(await page.locator('img, script, [onfocus], [style], iframe').count()).toBe(0);
  });
});

const SCHEMES = ['light', 'dark'] as const;
const WIDTHS = [320, 1280];

describe.each(SCHEMES.flatMap((colorScheme) => WIDTHS.map((width) => ({ colorScheme, width }))))(
  'in $colorScheme colours in a window $width wide',
  ({ colorScheme, width }) => {
    const options = { colorScheme, viewport: { width, height: 900 } };

    test('has no faults that axe finds', async () => {
      const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
      await looking(async (page) => {
        await page.evaluate(axe);
        const { violations, passes } = await page.evaluate<{
          readonly violations: readonly { id: string; nodes: readonly { html: string; failureSummary: string }[] }[];
          readonly passes: readonly { id: string }[];
        }>('axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })');
        expect(violations).toEqual([]);
        expect(passes.map(({ id }) => id)).toEqual(expect.arrayContaining(['color-contrast', 'region']));
      }, options);
    });

    test('fits without scrolling sideways', async () => {
      await looking(async (page) => {
        const root = 'document.documentElement';
        expect(await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)).toBe(0);
      }, options);
    });
  },
);
