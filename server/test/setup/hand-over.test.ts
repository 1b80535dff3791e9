import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { underFileLock } from '../../src/files.ts';
import { openSqliteStore } from '../../src/records/sqlite.ts';
import type { Store } from '../../src/records/store.ts';
import { handOver } from '../../src/setup/hand-over.ts';

const SERVICE = [
  ['CODESIGN_BASE_URL', 'https://127.0.0.1:1'],
  ['CODESIGN_CA_FILE', undefined],
] as const;

let root: string;
let store: Store;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'codesign-hand-'));
  store = await openSqliteStore(join(root, 'database.sqlite'));
});
afterEach(async () => {
  await store.close();
  await rm(root, { recursive: true, force: true });
});

const handOverTo = (name: string) =>
  handOver(store.clients, root, SERVICE, { kind: 'file', path: join(root, name) }, new Date());

test('of two concurrent starts one hands over, and the other finds it done', async () => {
  await Promise.all([handOverTo('a.env'), handOverTo('b.env'), handOverTo('c.env')]);
  expect((await readdir(root)).filter((name) => name.endsWith('.env'))).toHaveLength(1);
  expect(await store.clients.list()).toEqual([expect.objectContaining({ handedOver: true })]);
});

test('the lock lets one in at a time, and the next one also after a failure', async () => {
  let inside = 0;
  let most = 0;
  const work = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setTimeout(resolve, 20));
    inside -= 1;
  };
  await expect(underFileLock(join(root, 'lock'), async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await Promise.all([1, 2, 3].map(() => underFileLock(join(root, 'lock'), work)));
  expect(most).toBe(1);
});

test('a root that holds no lock file is an error of the data folder', async () => {
  const missing = underFileLock(join(root, 'missing', 'lock'), async () => {});
  await expect(missing).rejects.toMatchObject({ code: 'data-folder-unusable' });
});
