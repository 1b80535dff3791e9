/** Which service addresses are taken, and that a refused one is never repeated. */

import { expect, test } from 'vitest';
import type { CodesignError } from '../../../src/errors/codesign-error.ts';
import { parseBaseUrl } from '../../../src/options/values.ts';

const NAME = 'CODESIGN_BASE_URL';

test.each([
  ['https://sign.example.com', 'https://sign.example.com/'],
  ['https://sign.example.com/', 'https://sign.example.com/'],
  ['https://sign.example.com:8443/a/b', 'https://sign.example.com:8443/a/b'],
  ['https://sign.example.com/a/b///', 'https://sign.example.com/a/b'],
  ['HTTPS://Sign.Example.com/A%20b/', 'https://sign.example.com/A%20b'],
  ['https://192.0.2.1/x', 'https://192.0.2.1/x'],
  ['http://localhost:8080/', 'http://localhost:8080/'],
  ['http://127.0.0.1/a', 'http://127.0.0.1/a'],
  ['http://127.1.2.3', 'http://127.1.2.3/'],
  ['http://127.1', 'http://127.0.0.1/'],
  ['http://0x7f000001', 'http://127.0.0.1/'],
  ['http://[::1]:99/', 'http://[::1]:99/'],
])('takes %s', (text, href) => {
  expect(parseBaseUrl(text, NAME).href).toBe(href);
});

test.each([
  ['http://example.com', 'base-url-insecure'],
  ['http://127.0.0.1.example.com', 'base-url-insecure'],
  ['http://localhost.example.com', 'base-url-insecure'],
  ['http://128.0.0.1', 'base-url-insecure'],
  ['http://0.0.0.0', 'base-url-insecure'],
  ['http://[::2]', 'base-url-insecure'],
  ['http://[::ffff:192.0.2.1]', 'base-url-insecure'],
  ['http://localhost@example.com', 'base-url-holds-credentials'],
  ['https://user@example.com', 'base-url-holds-credentials'],
  ['https://user:passphrase@example.com', 'base-url-holds-credentials'],
  ['http://:passphrase@localhost', 'base-url-holds-credentials'],
  ['https://example.com/?a=passphrase', 'base-url-invalid'],
  ['https://example.com/?', 'base-url-invalid'],
  ['https://example.com/#passphrase', 'base-url-invalid'],
  ['https://example.com/#', 'base-url-invalid'],
  ['ftp://example.com', 'base-url-invalid'],
  ['file:///etc/passwd', 'base-url-invalid'],
  ['sign.example.com', 'base-url-invalid'],
  ['localhost:8443', 'base-url-invalid'],
  ['https://', 'base-url-invalid'],
  ['https://exa mple.com', 'base-url-invalid'],
  ['', 'base-url-invalid'],
])('rejects %j', (text, code) => {
  const error = thrownBy(() => parseBaseUrl(text, NAME));
  expect(error).toMatchObject({ category: 'usage', code });
  expect(error.message).toContain(NAME);
  expect(`${error.message}${error.hint}${error.cause}`).not.toContain('passphrase');
});

function thrownBy(call: () => unknown): CodesignError {
  try {
    call();
  } catch (thrown) {
    return thrown as CodesignError;
  }
  return expect.fail('it must throw');
}
