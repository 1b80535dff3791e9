import { lstat, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dataConfig } from '../../src/config.ts';
import { configureSoftHsm } from '../../src/keys/softhsm.ts';
import { makeData } from '../../src/setup/make-data.ts';

const HOUR = 60 * 60 * 1000;
const PREFIX = '.codesign-remote-server-setup-';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'codesign-make-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** A first start that ends before it creates a key, because its library is invalid; two hours from now by default. */
const failingStart = (inHours = 2) =>
  makeData(
    dataConfig({ data: root, pkcs11Library: process.execPath }, {}),
    {},
    () => new Date(Date.now() + inHours * HOUR),
  );

test('a token that the HSM puts elsewhere is noticed before there are keys in it', async () => {
  const elsewhere = join(root, 'elsewhere');
  await mkdir(join(elsewhere, 'tokens'), { recursive: true });
  await configureSoftHsm(elsewhere, process.env);
  const environment = {}; // what the server writes into it, the library does not see
  const started = makeData(dataConfig({ data: root }, {}), environment, () => new Date());
  await expect(started).rejects.toMatchObject({ code: 'hsm-failed' });
  expect(await readdir(join(elsewhere, 'tokens'))).toHaveLength(1);
  expect(await readdir(root)).toEqual(['elsewhere']);
});

describe('a first start, of what is in the folder already,', () => {
  test('removes the old folders of starts that were interrupted', async () => {
    await mkdir(join(root, `${PREFIX}aB3xYz`, 'tokens'), { recursive: true });
    await expect(failingStart()).rejects.toMatchObject({ code: 'pkcs11-library-unusable' });
    expect(await readdir(root)).toEqual([]);
  });

  test('leaves a folder of a start that may still be at it', async () => {
    await mkdir(join(root, `${PREFIX}aB3xYz`));
    await expect(failingStart(0)).rejects.toMatchObject({ code: 'pkcs11-library-unusable' });
    expect(await readdir(root)).toEqual([`${PREFIX}aB3xYz`]);
  });

  test('leaves everything else, however old and alike it is', async () => {
    await mkdir(join(root, 'setup-notes'));
    await writeFile(join(root, 'setup-notes', 'mine'), 'precious');
    await writeFile(join(root, 'setup-windows.exe'), 'precious');
    await mkdir(join(root, `${PREFIX}of-mine`));
    await writeFile(join(root, `${PREFIX}aFile1`), 'precious');
    await symlink(join(root, 'setup-notes'), join(root, `${PREFIX}aLink1`));
    const long = new Date(Date.now() - 1000 * HOUR);
    for (const name of await readdir(root)) await utimes(join(root, name), long, long);
    const before = (await readdir(root, { recursive: true })).sort();
    await expect(failingStart()).rejects.toMatchObject({ code: 'pkcs11-library-unusable' });
    expect((await readdir(root, { recursive: true })).sort()).toEqual(before);
    expect((await lstat(join(root, `${PREFIX}aLink1`))).isSymbolicLink()).toBe(true);
  });
});
