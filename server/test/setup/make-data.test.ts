import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderForEach } from '../../../test/support/set-up.ts';
import { readConfig } from '../../src/config.ts';
import { replaceFile } from '../../src/files.ts';
import { configureSoftHsm } from '../../src/keys/softhsm.ts';
import { give } from '../../src/setup/credentials.ts';
import { makeData } from '../../src/setup/make-data.ts';
import { operationAt } from '../support/operation.ts';

const root = folderForEach();

test('servers in containers, which all have the same process id, write the same file concurrently', async () => {
  const path = root.at('file');
  await Promise.all(Array.from({ length: 8 }, () => replaceFile(path, 'contents')));
  expect(await readdir(root.path)).toEqual(['file']);
  expect(await readFile(path, 'utf8')).toBe('contents');
});

test('a token that the HSM stores elsewhere is detected before it contains keys', async () => {
  const elsewhere = root.at('elsewhere');
  await mkdir(join(elsewhere, 'tokens'), { recursive: true });
  await configureSoftHsm(elsewhere, process.env);
  const environment = {}; // what the server writes into it, the library does not see
  const started = makeData(readConfig({ data: root.path }, {}), environment, operationAt(new Date()), 'create');
  await expect(started).rejects.toMatchObject({ code: 'hsm-failed' });
  expect(await readdir(join(elsewhere, 'tokens'))).toHaveLength(1);
  expect(await readdir(root.path)).toEqual(['elsewhere']);
});

test('the file with credentials is removed if they do not become valid', async () => {
  const path = root.at('client.env');
  const failing = async (): Promise<void> => {
    expect(await readFile(path, 'utf8')).toBe("NAME='value'\n");
    throw new Error('no database');
  };
  await expect(give({ kind: 'file', path }, [{ name: 'NAME', value: 'value' }], failing)).rejects.toThrow(
    'no database',
  );
  expect(await readdir(root.path)).toEqual([]);
});
