/** The search for credentials finds them: a search that finds nothing says nothing. */

import { expect, test } from 'vitest';
import { createSearch, formsOf } from './secret-search.ts';

const CREDENTIALS = { accessKey: 'key', accessSecret: 'Sup3r "secret" of a test/ü' };
const { accessSecret } = CREDENTIALS;
const search = createSearch();
search.add(formsOf(CREDENTIALS));

test.each([
  ['as it is', accessSecret],
  ['in JSON', JSON.stringify({ a: accessSecret })],
  ['in an address', encodeURIComponent(accessSecret)],
  ['in hexadecimal', Buffer.from(accessSecret).toString('hex')],
  ['in UTF-16', Buffer.from(accessSecret, 'utf16le')],
  ['in the header', `Basic ${Buffer.from(`key:${accessSecret}`).toString('base64')}`],
  ['in Base64', Buffer.from(accessSecret).toString('base64')],
  ['in Base64 after one byte', Buffer.from(`a${accessSecret}z`).toString('base64')],
  ['in Base64 after two bytes', Buffer.from(`ab${accessSecret}z`).toString('base64')],
])('%s', (_form, text) => {
  const around = Buffer.concat([Buffer.from('before '), Buffer.from(text), Buffer.from(' after')]);
  expect(search.formsIn(around)).not.toEqual([]);
});

test('finds nothing if there is nothing', () => {
  expect(search.formsIn(Buffer.from('Basic [secret], key'))).toEqual([]);
});
