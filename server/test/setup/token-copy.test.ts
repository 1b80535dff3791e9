/** Logins to SoftHSM's token that are killed on the way; those that come concurrently: first-start.long.test.ts. */

import { readdir, readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { copyData } from '../../../test/support/services/server-data.ts';
import { folderForEach } from '../../../test/support/set-up.ts';
import { readConfig } from '../../src/config.ts';
import { tokenFolder } from '../../src/keys/softhsm.ts';
import { type DataFolder, dataFolder } from '../../src/setup/data-folder.ts';
import { openData } from '../../src/setup/open-data.ts';

const root = folderForEach();
let folder: DataFolder;
let file: string;
beforeEach(async () => {
  await copyData(root.path, 2048);
  folder = dataFolder(root.path);
  const [token = ''] = await readdir(tokenFolder(folder.path));
  file = join(tokenFolder(folder.path), token, 'token.object');
});

/** The first signature of the first certificate's key. */
async function sign() {
  const data = await openData(readConfig({ data: root.path }, {}), process.env, 'use');
  try {
    const key = await data.keys.find((await data.store.certificates.find('1'))?.keyId ?? '');
    return Buffer.from((await key?.sign('SHA256', Buffer.alloc(32, 1))) ?? []).toString('hex');
  } finally {
    await data.close();
  }
}

test('a token whose file a killed login left empty or incomplete is whole again at the next start', async () => {
  const before = await sign();
  expect(before).toHaveLength(768);
  const whole = await readFile(file);
  for (const length of [0, 100]) {
    await truncate(file, length);
    expect(await sign()).toBe(before);
    expect((await readFile(file)).length).toBe(whole.length);
  }
  expect((await stat(join(folder.path, 'token-copy'))).mode & 0o777).toBe(0o600);
});
