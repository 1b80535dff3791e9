/** Which service addresses are taken, and that a refused one is never repeated. */

import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { attempt } from '../../../src/errors/codesign-error.ts';
import { parseBaseUrl } from '../../../src/options/values.ts';

const NAME = 'CODESIGN_BASE_URL';

test.each([
  ['https://sign.example.com', 'https://sign.example.com/'],
  ['https://sign.example.com:8443/a/b', 'https://sign.example.com:8443/a/b'],
  ['https://sign.example.com/a/b///', 'https://sign.example.com/a/b'],
  ['HTTPS://Sign.Example.com/A%20b/', 'https://sign.example.com/A%20b'],
  ['http://localhost:8080/', 'http://localhost:8080/'],
  ['http://127.0.0.1/a', 'http://127.0.0.1/a'],
  ['http://127.1.2.3', 'http://127.1.2.3/'],
  ['http://127.1', 'http://127.0.0.1/'],
  ['http://0x7f000001', 'http://127.0.0.1/'],
  ['http://[::1]:99/', 'http://[::1]:99/'],
])('takes %s', (text, href) => {
  expect(parseBaseUrl(text, NAME).href).toBe(href);
});

test.each(
  Object.entries({
    'base-url-insecure': [
      ...['http://example.com', 'http://127.0.0.1.example.com', 'http://localhost.example.com', 'http://128.0.0.1'],
      ...['http://0.0.0.0', 'http://[::2]', 'http://[::ffff:192.0.2.1]'],
    ],
    'base-url-holds-credentials': [
      ...['http://localhost@example.com', 'https://user:passphrase@example.com', 'http://:passphrase@localhost'],
    ],
    'base-url-invalid': [
      ...['https://example.com/?a=passphrase', 'https://example.com/?', 'https://example.com/#', 'ftp://example.com'],
      ...['sign.example.com', 'localhost:8443', 'https://exa mple.com', ''],
    ],
  }).flatMap(([code, texts]) => texts.map((text) => [code, text] as const)),
)('%s: %j', (code, text) => {
  const error = attempt(() => parseBaseUrl(text, NAME));
  expect(error).toMatchObject({ category: 'usage', code, message: expect.stringContaining(NAME) });
  expect(inspect(error)).not.toContain('passphrase');
});
