/** A headless Chromium that looks at the server's page as its visitors do. */

import { existsSync } from 'node:fs';
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
