import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dataConfig } from '../../src/config.ts';
import { configureSoftHsm } from '../../src/keys/softhsm.ts';
import { makeData } from '../../src/setup/make-data.ts';
import { operationAt } from '../support/operation.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'codesign-make-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

test('a token that the HSM puts elsewhere is noticed before there are keys in it', async () => {
  const elsewhere = join(root, 'elsewhere');
  await mkdir(join(elsewhere, 'tokens'), { recursive: true });
  await configureSoftHsm(elsewhere, process.env);
  const environment = {}; // what the server writes into it, the library does not see
  const started = makeData(dataConfig({ data: root }, {}), environment, operationAt(new Date()), 'create');
  await expect(started).rejects.toMatchObject({ code: 'hsm-failed' });
  expect(await readdir(join(elsewhere, 'tokens'))).toHaveLength(1);
  expect(await readdir(root)).toEqual(['elsewhere']);
});

test('a failed first start keeps everything else in the folder, and leaves none of its files', async () => {
  await writeFile(join(root, 'mine'), 'precious');
  const config = dataConfig({ data: root, pkcs11Library: process.execPath }, {}); // no library
  await expect(makeData(config, {}, operationAt(new Date()), 'create')).rejects.toMatchObject({
    code: 'pkcs11-library-unusable',
  });
  expect(await readdir(root)).toEqual(['mine']);
});
