/** The search for credentials finds them: a search that finds nothing says nothing. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './programs/cli.ts';
import { findCredentials } from './secret-search.ts';

const CREDENTIALS = { accessKey: 'key', accessSecret: 'Sup3r "secret" of a test/ü' };
const { accessSecret } = CREDENTIALS;

test.each([
  ['as it is', accessSecret],
  ['in JSON', JSON.stringify({ a: accessSecret })],
  ['in an address', encodeURIComponent(accessSecret)],
  ['in hexadecimal', Buffer.from(accessSecret).toString('hex')],
  ['in the header', `Basic ${Buffer.from(`key:${accessSecret}`).toString('base64')}`],
  ['in Base64', Buffer.from(accessSecret).toString('base64')],
  ['in Base64 after one byte', Buffer.from(`a${accessSecret}z`).toString('base64')],
  ['in Base64 after two bytes', Buffer.from(`ab${accessSecret}z`).toString('base64')],
])('%s', async (_form, text) => {
  expect(await findCredentials(CREDENTIALS, { text: `before ${text} after` })).not.toEqual([]);
});

test('finds it in a file of a folder, and in a file name', async () => {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, 'a'));
  await writeFile(join(folder.path, 'a', 'Sup3rsecret'), Buffer.from(`\0${accessSecret}`, 'utf16le'));
  expect(await findCredentials(CREDENTIALS, {}, [folder.path])).toHaveLength(1);
  const named = { accessKey: 'key', accessSecret: 'Sup3rsecret' };
  expect(await findCredentials(named, {}, [folder.path])).toContainEqual(expect.stringMatching(/^the name /));
  expect(await findCredentials(CREDENTIALS, {}, [folder.path], (path) => path.endsWith('secret'))).toEqual([]);
});

test('finds nothing if there is nothing', async () => {
  expect(await findCredentials(CREDENTIALS, { text: 'Basic [secret], key' })).toEqual([]);
});
