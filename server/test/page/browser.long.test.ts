/** The page of a real server in a real browser: that it is readable, and runs nothing. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../../test/support/services/server.ts';
import { prepareTables } from '../../src/records/migrations.ts';
import { openSqliteStore } from '../../src/records/sqlite.ts';
import { startChromium, visit } from '../support/chromium.ts';
import type { Credentials } from '../support/clients.ts';
import { HOSTILE, seedPage } from '../support/page-scene.ts';

let server: TestServer;
let viewer: Credentials;
let browser: Browser;
beforeAll(async () => {
  server = await startServer({ bits: 2048 });
  const database = join(server.data, 'service', 'database.sqlite');
  const store = await openSqliteStore(database, prepareTables('use'));
  viewer = await seedPage(store, database, new Date());
  await store.close();
  browser = await startChromium();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Lets a visitor look, and holds that the browser complained of nothing. */
async function looking(look: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> {
  const visitor = await visit(browser, server.baseUrl, viewer, options);
  try {
    await look(visitor.page);
    expect(visitor.complaints).toEqual([]);
    if (options.javaScriptEnabled !== false) expect(await visitor.page.evaluate('window.harmed')).toBeUndefined();
  } finally {
    await visitor.context.close();
  }
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
      const { page, context } = await visit(browser, server.baseUrl, viewer, options);
      await page.evaluate(axe);
      const { violations, passes } = await page.evaluate<{
        readonly violations: readonly { id: string; nodes: readonly { html: string; failureSummary: string }[] }[];
        readonly passes: readonly { id: string }[];
      }>('axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })');
      expect(
        violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => [html, failureSummary])]),
      ).toEqual([]);
      expect(passes.map(({ id }) => id)).toEqual(expect.arrayContaining(['color-contrast', 'region']));
      await context.close();
    });

    test('fits without scrolling sideways', async () => {
      await looking(async (page) => {
        const root = 'document.documentElement';
        expect(await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)).toBe(0);
      }, options);
    });
  },
);
