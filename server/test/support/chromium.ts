/** A headless Chromium that looks at the server's page as its visitors do. */

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { ViewerCredentials } from './page-scene.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];
/** No sandbox: it may run as root in a container. And nothing that would ask the network for anything. */
const ARGUMENTS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

export async function startChromium(): Promise<Browser> {
  const named = process.env.CODESIGN_TEST_CHROMIUM;
  const places = named ? [named] : PLACES;
  const executablePath = places.find((place) => existsSync(place));
  if (executablePath === undefined) {
    throw new Error(
      `Chromium is missing (${places.join(', ')}): apt-get install chromium fonts-dejavu-core (dnf, apk: chromium), or name one in CODESIGN_TEST_CHROMIUM`,
    );
  }
  return await chromium.launch({ executablePath, args: ARGUMENTS });
}

/** A user of a browser. */
export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser complained of: its console, faults of scripts, dialogs, requests that failed or went elsewhere. */
  readonly complaints: readonly string[];
}

export async function visit(
  browser: Browser,
  address: string,
  viewer: ViewerCredentials | undefined,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true, // its authority is of this run only; what the certificate is worth, others test
    ...(viewer && { httpCredentials: { username: viewer.accessKey, password: viewer.accessSecret } }),
    ...options,
  });
  await context.addInitScript({ path: fileURLToPath(new URL('in-browser.js', import.meta.url)) });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${new URL(address).origin}/`) && !request.url().startsWith('data:'))
      complaints.push(`elsewhere: ${request.url()}`);
  });
  await page.goto(address);
  return { page, context, complaints };
}

/** What an element looks like that has the focus. */
export interface Focus {
  readonly name: string;
  /** How wide the line around it is, in pixels, and its contrast. */
  readonly outline: number;
  readonly contrast: number;
  readonly inView: boolean;
}

/** One more press of the tab key. @returns what has the focus then; undefined: nothing of the page */
export async function tab(page: Page): Promise<Focus | undefined> {
  await page.keyboard.press('Tab');
  return await page.evaluate<Focus | undefined>('looks.focused()');
}

/** Presses the tab key until this has the focus. @param name its id, or the beginning of its text */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    const focus = await tab(page);
    if (focus?.name.startsWith(name)) return;
  }
  throw new Error(`the tab key does not lead to ${name}`);
}
