/** Logins to SoftHSM's token that are killed on the way; those that come concurrently: first-start.long.test.ts. */

import { mkdtemp, readdir, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyData } from '../../../test/support/services/server-data.ts';
import { dataConfig } from '../../src/config.ts';
import { tokenFolder } from '../../src/keys/softhsm.ts';
import { type DataFolder, dataFolder } from '../../src/setup/data-folder.ts';
import { openData } from '../../src/setup/open-data.ts';

let root: string;
let folder: DataFolder;
let file: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'codesign-copy-'));
  await copyData(root, 2048);
  folder = dataFolder(root);
  const [token = ''] = await readdir(tokenFolder(folder.path));
  file = join(tokenFolder(folder.path), token, 'token.object');
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** The first signature of the first certificate's key. */
async function sign() {
  const data = await openData(dataConfig({ data: root }, {}), process.env, 'use');
  try {
    const key = await data.keys.find((await data.store.certificates.find('1'))?.keyId ?? '');
    return Buffer.from((await key?.sign('SHA256', Buffer.alloc(32, 1))) ?? []).toString('hex');
  } finally {
    await data.close();
  }
}

test.each([0, 100])(
  'a token whose file a killed login left with %i bytes is whole again at the next start',
  async (length) => {
    const before = await sign();
    expect(before).toHaveLength(768);
    const whole = await readFile(file);
    await truncate(file, length);
    expect(await sign()).toBe(before);
    expect((await readFile(file)).length).toBe(whole.length);
    expect((await stat(join(folder.path, 'token-copy'))).mode & 0o777).toBe(0o600);
  },
);
