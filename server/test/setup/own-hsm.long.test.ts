/** A server on a token that its operator made, and on a database for several servers. */

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { folderForEach, forAll } from '../../../test/support/set-up.ts';
import { readConfig } from '../../src/config.ts';
import { createToken } from '../../src/keys/pkcs11.ts';
import { configureSoftHsm, findSoftHsm, tokenFolder } from '../../src/keys/softhsm.ts';
import { dataFolder } from '../../src/setup/data-folder.ts';
import { makeData } from '../../src/setup/make-data.ts';
import { chooseHsm, openData } from '../../src/setup/open-data.ts';
import { operationAt } from '../support/operation.ts';
import { startPostgres } from '../support/postgres.ts';

const LABEL = 'of the operator';
const postgres = await forAll(startPostgres());
const folder = folderForEach();
beforeEach(async () => {
  await mkdir(tokenFolder(folder.path));
  await configureSoftHsm(folder.path, process.env);
  await createToken({ library: findSoftHsm(undefined), label: LABEL, pin: 'the PIN' }, 'another');
  await writeFile(folder.at('pin'), 'the PIN\n');
});

const settings = (more: object) => readConfig({ data: folder.at('a'), pkcs11Token: LABEL, ...more }, {});
const configOf = (name: string, database: string) =>
  settings({ data: folder.at(name), pkcs11PinFile: folder.at('pin'), database });
const make = (name: string, database: string, rights: 'create' | 'use' = 'create') =>
  makeData(configOf(name, database), process.env, operationAt(new Date()), rights);
const open = (name: string, database: string) => openData(configOf(name, database), process.env, 'update');

test('two first starts on one database and the operator’s token make no token, and share authority and certificate', async () => {
  const database = await postgres.newDatabase();
  await make('a', database);
  await make('b', database, 'use'); // as `certificate add` does
  const made = await readdir(dataFolder(folder.at('a')).path);
  expect(made).toContain('certificates');
  for (const name of ['tokens', 'pin', 'softhsm2.conf', 'database.sqlite']) expect(made).not.toContain(name);
  const seen = async (name: string) => {
    const data = await open(name, database);
    try {
      const [certificate, ...others] = await data.store.certificates.list();
      const key = await data.keys.find(certificate?.keyId ?? '');
      const signature = Buffer.from((await key?.sign('SHA256', Buffer.alloc(32, 1))) ?? []).toString('hex');
      return { authority: await data.store.authority.get(), certificate, others, signature };
    } finally {
      await data.close();
    }
  };
  const a = await seen('a');
  expect(a).toMatchObject({ certificate: { number: '1' }, others: [], signature: expect.stringMatching(/^.{768}$/) });
  expect(await seen('b')).toEqual(a);
});

test('the PIN comes from the environment or a file, and a token without one is rejected', async () => {
  const pinOf = async (more: object, environment = {}) => (await chooseHsm(settings(more), environment)).token?.pin;
  expect(await pinOf({ pkcs11PinFile: folder.at('pin') })).toBe('the PIN');
  const environment = { CODESIGN_SERVER_PKCS11_PIN: 'another' };
  expect(await pinOf({ pkcs11PinFile: folder.at('pin') }, environment)).toBe('another');
  await expect(pinOf({})).rejects.toMatchObject({ code: 'pin-missing', exitCode: 2 });
  await writeFile(folder.at('pin'), '\uFEFFas Notepad writes it\r\n');
  expect(await pinOf({ pkcs11PinFile: folder.at('pin') })).toBe('as Notepad writes it');
  await writeFile(folder.at('pin'), '\n');
  await expect(pinOf({ pkcs11PinFile: folder.at('pin') })).rejects.toMatchObject({ code: 'pin-missing' });
  await expect(pinOf({ pkcs11PinFile: folder.at('none') })).rejects.toMatchObject({ code: 'pin-unreadable' });
});
