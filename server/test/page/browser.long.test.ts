/** The page of a real server in a real browser: what it looks like, and that it works by keyboard and without scripts. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../../test/support/services/server.ts';
import { openSqliteStore } from '../../src/records/sqlite.ts';
import { startChromium, tab, tabTo, visit } from '../support/chromium.ts';
import { adminCommand } from '../support/commands.ts';
import { addViewer, manyRecords, seedRecords, type ViewerCredentials } from '../support/page-scene.ts';

const DAY = 86_400_000;
/** Each of them would run, or steer, somewhere. */
const HOSTILE = [
  '<script>window.harmed = 1; alert(1)</script>',
  '"><img src=x onerror="window.harmed = 1">',
  "' onfocus='window.harmed = 1' autofocus tabindex=1 x='",
  '</title></style></textarea></select><svg onload=window.harmed=1>',
  'javascript:window.harmed=1',
  'http:evil.example',
  '\u202egpj.exe\u2066\u001b[31m\u0000',
  'a'.repeat(4000),
  'W'.repeat(300),
];

let server: TestServer;
let viewer: ViewerCredentials;
let browser: Browser;
beforeAll(async () => {
  server = await startServer({ bits: 2048 });
  const database = join(server.data, 'service', 'database.sqlite');
  const store = await openSqliteStore(database);
  const [certificate] = await store.certificates.list();
  if (certificate === undefined) throw new Error('no certificate');
  await store.certificates.add(
    { ...certificate, number: 'drivers', notAfter: new Date(Date.now() + 12 * DAY) },
    new Date(),
  );
  await store.certificates.add(
    { ...certificate, number: '2024', notAfter: new Date(Date.now() - 5 * DAY) },
    new Date(),
  );
  const clients = ['Release builds', 'Nightly', ...HOSTILE.slice(0, 7), 'W'.repeat(64)];
  for (const [index, name] of clients.entries()) {
    const id = `client-${index}`;
    const bounds = { quota: index === 0 ? undefined : 150 * index, certificates: undefined, algorithms: undefined };
    const kept = { id, accessKey: `AK${id}`, secretDigest: Buffer.alloc(32), expiresAt: undefined };
    await store.clients.add({ ...kept, ...bounds, name: name.replaceAll('\0', '') }, new Date());
  }
  viewer = await addViewer(store, { name: 'On call' });
  await store.close();
  const ids = clients.map((_name, index) => `client-${index}`);
  const until = new Date(Date.now() - 60_000);
  seedRecords(database, manyRecords(ids, ['1', '1', 'drivers'], { count: 1500, days: 80, until }));
  const last = { clientId: 'client-2', certificate: '2024', signedAt: new Date(Date.now() - 1000) };
  seedRecords(
    database,
    HOSTILE.map((name) => ({ ...last, extra: { signing_filename: name, hostname: name } })),
  );
  browser = await startChromium();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Lets a visitor look, and holds that the browser complained of nothing. */
async function looking(
  path: string,
  look: (page: Page) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const visitor = await visit(browser, `${server.baseUrl}${path}`, viewer, options);
  try {
    await look(visitor.page);
    const wanted = /=x$/.test(path) ? /the server responded with a status of 400/ : /^$/;
    expect(visitor.complaints.filter((complaint) => !wanted.test(complaint))).toEqual([]);
    if (options.javaScriptEnabled !== false) expect(await visitor.page.evaluate('window.harmed')).toBeUndefined();
  } finally {
    await visitor.context.close();
  }
}

test('shows what it has, runs nothing of what clients sent, and requests nothing else for anything', async () => {
  await looking('/', async (page) => {
    expect(await page.title()).toBe('Codesign server');
    expect(await page.locator('#records tbody tr').count()).toBe(50);
    for (const name of HOSTILE.slice(0, 2)) {
      const shown = name.split('/').at(-1) ?? '';
      expect(await page.locator('#records th b', { hasText: shown }).count()).toBe(1);
    }
    expect(await page.locator('#records').innerText()).toContain('\\u202egpj.exe\\u2066\\u001b[31m\\u0000');
    expect(await page.locator('img, script, [onfocus], [style], iframe').count()).toBe(0);
  });
});

test('runs and styles nothing that got in, for the policy is not only sent', async () => {
  const { page, context, complaints } = await visit(browser, `${server.baseUrl}/`, viewer);
  const blocked = await page.evaluate<string[]>(`new Promise((resolve) => {
    const seen = [];
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
      seen.push(effectiveDirective);
      if (seen.length === 3) resolve(seen.sort());
    });
    const script = document.createElement('script');
    script.textContent = 'window.harmed = 1';
    const style = document.createElement('style');
    style.textContent = 'body { display: none }';
    const image = document.createElement('img');
    image.src = '/page.css';
    document.body.append(script, style, image);
  })`);
  expect(blocked).toEqual(['img-src', 'script-src-elem', 'style-src-elem']);
  expect(complaints.length).toBeGreaterThan(2); // so that the other tests would have noticed
  expect(await page.evaluate('window.harmed')).toBeUndefined();
  await context.close();
});

test('reports who has no credentials, or those of a client, what is missing, and nothing else', async () => {
  const { CODESIGN_ACCESS_KEY: accessKey = '', CODESIGN_ACCESS_SECRET: accessSecret = '' } = server.env;
  for (const stranger of [undefined, { accessKey, accessSecret }]) {
    const { page, context } = await visit(browser, `${server.baseUrl}/`, stranger).catch((error: Error) => {
      // Without anybody to request a password Chromium may show nothing at all.
      expect(error.message).toContain('ERR_INVALID_AUTH_CREDENTIALS');
      return { page: undefined, context: undefined };
    });
    if (page === undefined) continue;
    expect(await page.locator('h1').innerText()).toBe('Who is there?');
    expect(await page.content()).not.toContain('Release builds');
    await context.close();
  }
});

const SCHEMES = ['light', 'dark'] as const;

describe.each(SCHEMES)('in %s colours', (colorScheme) => {
  test('every text stands out from its ground by 4.5, every line and bar by 3', async () => {
    for (const path of ['/', '/?since=x&file=a', '/?file=nothing-fits']) {
      const { page, context } = await visit(browser, `${server.baseUrl}${path}`, viewer, { colorScheme });
      await page.locator('summary').click();
      const all = await page.evaluate<readonly { kind: 'text' | 'drawing'; ratio: number }[]>('looks.contrasts()');
      expect(all.filter(({ kind }) => kind === 'text').length).toBeGreaterThan(100);
      expect(all.filter(({ kind }) => kind === 'drawing').length).toBeGreaterThan(20);
      expect(all.filter(({ kind, ratio }) => ratio < (kind === 'text' ? 4.5 : 3))).toEqual([]);
      await context.close();
    }
  });

  test.each([
    ['desktop', 1280],
    ['phone', 375],
  ])('axe finds nothing to complain of at the width of a %s', async (_name, width) => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    for (const path of ['/', '/?since=x&file=a', '/?file=nothing-fits&days=90']) {
      const viewport = { width, height: 900 };
      const { page, context } = await visit(browser, `${server.baseUrl}${path}`, viewer, { colorScheme, viewport });
      await page.locator('summary').click();
      await page.evaluate(axe);
      const { violations, passes } = await page.evaluate<{
        readonly violations: readonly { id: string; nodes: readonly { html: string; failureSummary: string }[] }[];
        readonly passes: readonly { id: string }[];
      }>('axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })');
      expect(
        violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => [html, failureSummary])]),
      ).toEqual([]);
      expect(passes.map(({ id }) => id)).toEqual(expect.arrayContaining(['color-contrast', 'label', 'region']));
      await context.close();
    }
  });
});

test('has other colours for who likes it dark', async () => {
  const colors: string[] = [];
  for (const colorScheme of SCHEMES) {
    await looking(
      '/',
      async (page) => {
        for (const selector of ['body', '.panel', 'input', '.badge.valid']) {
          const style = `getComputedStyle(document.querySelector('${selector}'))`;
          colors.push(await page.evaluate<string>(`${style}.backgroundColor + ${style}.color`));
        }
      },
      { colorScheme },
    );
  }
  expect(colors).toHaveLength(8);
  for (const index of [0, 1, 2, 3]) expect(colors[index]).not.toBe(colors[index + 4]);
});

test.each([320, 375, 600, 768, 1023, 1025, 1280, 1920])(
  'fits a window %i wide without scrolling sideways',
  async (width) => {
    for (const path of ['/', '/?days=90&report=none', '/?since=x']) {
      await looking(
        path,
        async (page) => {
          await page.locator('summary').click();
          expect(await page.evaluate('looks.stickingOut()')).toEqual([]);
          const { width: bars } = (await page.locator('.bars').boundingBox()) ?? {};
          expect(bars).toBeGreaterThan(200);
        },
        { viewport: { width, height: 800 } },
      );
    }
  },
);

test('fits a narrow window with letters twice as large', async () => {
  await looking(
    '/',
    async (page) => {
      await page.evaluate('document.documentElement.style.fontSize = "200%"');
      expect(await page.evaluate('looks.stickingOut()')).toEqual([]);
    },
    { viewport: { width: 640, height: 800 } },
  );
});

describe('to those who hear it', () => {
  test.each([1280, 375])('it has the same headings, tables and pictures at a width of %i', async (width) => {
    await looking(
      '/',
      async (page) => {
        const tree = await page.locator('body').ariaSnapshot();
        for (const part of [
          '- link "Skip to the content"',
          '- banner',
          '- navigation "Sections"',
          '- main',
          '- heading "Codesign server" [level=1]',
          '- heading "Signatures per day" [level=2]',
          /img "Bars: [\d,]+ signatures from \S+ to \S+, at most \d+ on one day/,
          /- table "Code-signing certificates, [^"]*"/,
          '- columnheader "Valid until"',
          /row "drivers .* ends soon 1[12] days left"/,
          /- img "\d+ % used"/,
          /- table "Signature records, the latest first; times are in UTC"/,
          /rowheader "[^"]*\.(exe|dll|msi|jar)\b/,
          '- combobox "Client"',
          '- textbox "From (UTC)"',
          '- searchbox "File name contains"',
          '- button "Filter"',
          '- navigation "Pages of signatures"',
        ]) {
          expect(tree).toMatch(part);
        }
      },
      { viewport: { width, height: 800 } },
    );
  });

  test('has no animation if the user prefers reduced motion', async () => {
    await looking(
      '/',
      async (page) => {
        const style = (selector: string) =>
          page.evaluate<string[]>(`(({ scrollBehavior, transitionDuration }) => [scrollBehavior, transitionDuration])(
            getComputedStyle(document.querySelector('${selector}')))`);
        expect(await style('html')).toEqual(['auto', '0s']);
        expect(await style('button')).toEqual(['auto', '0s']);
      },
      { reducedMotion: 'reduce' },
    );
  });
});

describe('by keyboard alone', () => {
  test('everything is reached once, in the order of reading, and is seen to have the focus', async () => {
    const still = { reducedMotion: 'reduce' } as const; // or what gets the focus would be on its way still
    const look = async (page: Page) => {
      const names: string[] = [];
      for (let focus = await tab(page); focus !== undefined && names.length < 120; focus = await tab(page)) {
        expect([focus.name, focus.outline >= 2, focus.contrast >= 3, focus.inView]).toEqual([
          focus.name,
          true,
          true,
          true,
        ]);
        names.push(focus.name);
      }
      const texts = await page.locator('#records th a').allInnerTexts();
      const records = texts.map((text) => text.slice(0, 40)); // as much as `focused` returns
      expect(records).toHaveLength(50);
      expect(names.filter((name, index) => name !== names[index - 1])).toEqual([
        ...['Skip to the content', 'Codesign server', 'Per day', 'Certificates', 'Quotas', 'Signatures'],
        ...['30 days', '90 days', 'The numbers of each day', 'Download all as CSV'],
        ...['client', 'certificate', 'report', 'since', 'until', 'file', 'id', 'digest', 'Filter'],
        ...records.filter((name, index) => name !== records[index - 1]),
        'Older →',
      ]);
    };
    await looking('/', look, still);
  });

  test('the first key leads past the heading', async () => {
    await looking('/', async (page) => {
      expect(await tab(page)).toMatchObject({ name: 'Skip to the content', inView: true });
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('main');
      expect(await tab(page)).toMatchObject({ name: '30 days' });
    });
  });

  test('from the filter to a download that is what export writes', async () => {
    await looking(
      '/?days=90',
      async (page) => {
        await tabTo(page, 'certificate');
        await page.keyboard.type('dri');
        await tabTo(page, 'Filter');
        await page.keyboard.press('Enter');
        await page.waitForURL(/certificate=drivers/);
        expect(page.url()).toContain('days=90');
        const cells = await page.locator('#records td[data-label="Certificate"]').allTextContents();
        expect(new Set(cells.map((cell) => cell.trim()))).toEqual(new Set(['drivers']));

        await tabTo(page, 'Older →');
        await page.keyboard.press('Enter');
        await page.waitForURL(/before=/);
        expect(await page.locator('#records tbody tr').count()).toBe(50);

        await page.reload(); // from its top
        await tabTo(page, 'Download what is filtered as CSV');
        const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
        expect(download.suggestedFilename()).toMatch(/^signatures-\d{4}-\d\d-\d\d\.csv$/);
        const exported = await adminCommand(['export', '--certificate', 'drivers', '--data', server.data]);
        expect(exported.output.split('\n').length).toBeGreaterThan(400);
        expect(await readFile(await download.path(), 'utf8')).toBe(exported.output);
      },
      { acceptDownloads: true },
    );
  });
});

test('filters, turns pages and downloads where scripts are off', async () => {
  await looking(
    '/',
    async (page) => {
      expect(await page.locator('.bars g').count()).toBe(30);
      await page.getByLabel('Report').selectOption('failed');
      await page.getByLabel('File name contains').fill('SETUP');
      await page.getByRole('button', { name: 'Filter' }).click();
      await page.waitForURL(/report=failed/);
      const files = await page.locator('#records th[data-label="File"] b').allInnerTexts();
      expect(new Set(files)).toEqual(new Set(['setup.exe']));
      await page.getByRole('link', { name: 'Show all' }).click();
      await page.getByRole('link', { name: 'Older' }).click();
      expect(await page.locator('#records tbody tr').count()).toBe(50);
      await page.getByRole('link', { name: 'Newer' }).click();
      await page.getByText('The numbers of each day').click();
      expect(await page.locator('.numbers').isVisible()).toBe(true);
      await page.getByRole('link', { name: '90 days' }).click();
      expect(await page.locator('.bars g').count()).toBe(90);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Download all as CSV' }).click(),
      ]);
      const exported = await adminCommand(['export', '--data', server.data]);
      expect(await readFile(await download.path(), 'utf8')).toBe(exported.output);
    },
    { javaScriptEnabled: false, acceptDownloads: true },
  );
});
