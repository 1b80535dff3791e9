/** CODESIGN_TEST_NODES names a folder with further versions of Node.js: 24/node_modules/.bin/node and so on. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, runCli, temporaryFolder } from '../../../support/programs/cli.ts';

const NODES = process.env.CODESIGN_TEST_NODES ?? '';

describe.skipIf(NODES === '')('compiled code', async () => {
  const versions = NODES === '' ? [] : await readdir(NODES);
  it.each(versions)('of Node.js %s is kept for the next run', async (version) => {
    await using caches = await temporaryFolder();
    const options = {
      node: join(NODES, version, 'node_modules', '.bin', 'node'),
      env: { XDG_CACHE_HOME: caches.path },
    };
    const first = await runCli(['verify', fixture('pe/hello.exe')], options);
    const kept = (await readdir(caches.path, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
    expect(kept.length).toBeGreaterThan(5);
    expect(await runCli(['verify', fixture('pe/hello.exe')], options)).toEqual(first);
  });
});
