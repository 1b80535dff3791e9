/** A headless Chromium that looks at the server's page as its visitors do. */

import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import type { Credentials } from './clients.ts';

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

/** @returns complaints: of the console, faults of scripts, dialogs, requests that failed or went elsewhere */
export async function visit(
  browser: Browser,
  address: string,
  viewer: Credentials,
  options: BrowserContextOptions = {},
) {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true, // its authority is of this run only; what the certificate is worth, others test
    httpCredentials: { username: viewer.accessKey, password: viewer.accessSecret },
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
