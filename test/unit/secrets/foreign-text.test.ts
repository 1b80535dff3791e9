/** Credentials are found in text from outside in every form in which they may come back; ordinary text stays as it is. */

import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { printable } from '../../../src/errors/printable.ts';
import { foreignText } from '../../../src/secrets/foreign-text.ts';

const SECRET = 'S3cr/t+"key" <ä&\\1>=~';
const TOKEN = Buffer.from(`access-key:${SECRET}`).toString('base64');
const foreign = foreignText([TOKEN, SECRET]);
const print = (text: string): string => printable(foreign.show(text));

const points = (encode: (point: number) => string): string =>
  [...SECRET].map((character) => encode(character.codePointAt(0) ?? 0)).join('');
const bytes = (encode: (byte: number) => string, text = SECRET): string => [...Buffer.from(text)].map(encode).join('');
const hex = (number: number, digits = 2): string => number.toString(16).padStart(digits, '0');
const base64 = (text: string | Buffer, before = ''): string =>
  Buffer.concat([Buffer.from(before), Buffer.from(text), Buffer.from('tail')]).toString('base64');
const base32 = (text: string): string =>
  (bytes((byte) => byte.toString(2).padStart(8, '0'), text).match(/.{1,5}/g) ?? [])
    .map((bits) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.charAt(Number.parseInt(bits.padEnd(5, '0'), 2)))
    .join('');
const html = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? '');
const json = (text: string): string => JSON.stringify(text).slice(1, -1);

const ENCODED: Readonly<Record<string, string>> = {
  'as it is': SECRET,
  'in capitals': SECRET.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  'as the Authorization header': `Basic ${TOKEN}`,
  'as the token without padding': TOKEN.replace(/=+$/, ''),
  'as the token in base64url': Buffer.from(TOKEN, 'base64').toString('base64url'),
  'in an address': encodeURIComponent(SECRET),
  'in an address, twice': encodeURIComponent(encodeURIComponent(SECRET)),
  'in a form': new URLSearchParams({ x: SECRET }).toString().slice(2),
  'all of it in %XX': bytes((byte) => `%${hex(byte)}`),
  'in %uXXXX': points((point) => `%u${hex(point, 4)}`),
  'in HTML': html(SECRET),
  'in HTML, twice': html(html(SECRET)),
  'in decimal entities': points((point) => `&#${point};`),
  'in hexadecimal entities without end': points((point) => `&#x${hex(point, 6)}`),
  'in JSON': json(SECRET),
  'in JSON in JSON': json(json(SECRET)),
  'in JSON with an escaped slash': json(SECRET).replaceAll('/', '\\/'),
  'in \\uXXXX': points((point) => `\\u${hex(point, 4).toUpperCase()}`),
  'in \\xXX': bytes((byte) => `\\x${hex(byte)}`),
  'in octal': bytes((byte) => `\\${byte.toString(8).padStart(3, '0')}`),
  'in quoted-printable': bytes((byte) => `=${hex(byte).toUpperCase()}`).replace(/.{30}/g, '$&=\r\n'),
  'in hexadecimal': Buffer.from(SECRET).toString('hex'),
  'in upper hexadecimal with colons': bytes((byte) => `${hex(byte).toUpperCase()}:`),
  'in hexadecimal as a dump': bytes((byte) => `0x${hex(byte)}, `),
  'in hexadecimal of UTF-16': Buffer.from(SECRET, 'utf16le').toString('hex'),
  'in UTF-16': [...SECRET].join('\0'),
  'in Base64 from 0': base64(SECRET),
  'in Base64 from 1': base64(SECRET, 'a'),
  'in Base64 from 2': base64(SECRET, 'ab'),
  'in Base64 without padding': Buffer.from(SECRET).toString('base64').replace(/=+$/, ''),
  'in base64url from 1': Buffer.from(`x${SECRET}xx`).toString('base64url'),
  'in Base64 with line breaks': base64(SECRET, 'ab').replace(/.{7}/g, '$&\r\n'),
  'in Base64 in an address': encodeURIComponent(base64(SECRET, 'a')),
  'in Base64 in JSON': json(base64(SECRET, 'a').replace(/.{7}/g, '$&\n')).replaceAll('/', '\\/'),
  'in Base64 twice': base64(base64(SECRET, 'a'), 'ab'),
  'in Base64 of an address': base64(encodeURIComponent(SECRET), 'a'),
  'in Base64 of JSON': base64(JSON.stringify({ secret: SECRET })),
  'in Base64 of hexadecimal': base64(Buffer.from(SECRET).toString('hex'), 'a'),
  'in Base64 of UTF-16': base64(Buffer.from(SECRET, 'utf16le'), 'a'),
  'in Base64 of the other UTF-16': base64(Buffer.from(SECRET, 'utf16le').swap16()),
  'in Base64 of the token': base64(`Basic ${TOKEN}`, 'ab'),
  'in hexadecimal of the token': Buffer.from(TOKEN).toString('hex'),
  'with line breaks': SECRET.replace(/.{4}/g, '$&\r\n'),
  'with invisible characters': [...SECRET].join('\u200b'),
  'in UTF-8 that was read as Latin-1': Buffer.from(SECRET).toString('latin1'),
  'in NFD': SECRET.normalize('NFD'),
  'in upper case': SECRET.toUpperCase(),
  'as the token in upper case': TOKEN.toUpperCase(),
  'in decimal': bytes((byte) => `${byte} `),
  'as a Buffer of Node.js in JSON': JSON.stringify(Buffer.from(SECRET)),
  'in binary': bytes((byte) => `${byte.toString(2).padStart(8, '0')} `),
  'as bytes of Python': json(SECRET).replace('ä', '\\xc3\\xa4'),
  'in Base32': base32(SECRET),
  'in base64url of JSON, as in a token': Buffer.from(JSON.stringify({ sub: SECRET })).toString('base64url'),
  'compressed, in Base64': deflateRawSync(SECRET).toString('base64'),
  'with dashes': SECRET.replace(/.{3}/g, '$&-'),
  'reversed, in Base64': [...Buffer.from(SECRET).toString('base64')].reverse().join(''),
  'in the query of an address': `https://example.com/v1?key=${encodeURIComponent(encodeURIComponent(SECRET))}`,
  'in the path of an address': `https://example.com/${bytes((byte) => `%${hex(byte)}`)}/v1`,
  'as the user of an address': `https://${bytes((byte) => `%${hex(byte)}`)}@example.com/v1`,
};

test.each(Object.entries(ENCODED))('a secret %s is not printed', (_, encoded) => {
  const printed = print(`it says (${encoded}) here`).replace(
    /\\x00|\\[rn]|https:\/\/example\.com\/v1|@example\.com\/v1/g,
    '',
  );
  expect(printed).toMatch(/^it says .{0,16}(?:\[secret\]|…).{0,11} here$/);
  for (let at = 0; at + 6 <= SECRET.length; at += 1) expect(printed).not.toContain(SECRET.slice(at, at + 6));
  // Twice, with words in between: no part is lost or left.
  expect(print(`${encoded} and then ${encoded}`).match(/\[secret\]|…/g)?.length).toBeGreaterThan(1);
});

const letters = 'QkwZjRtbHyPvNcXaLmGdSfUe';
const found = foreignText([letters]);
test.each([
  ['as it is', letters],
  ['reversed', [...letters].reverse().join('')],
  ['reversed, in upper case', [...letters.toUpperCase()].reverse().join('')],
  ['in Base64', Buffer.from(`a${letters}`).toString('base64')],
  ['in rot13', letters.replace(/[a-m]/gi, (one) => String.fromCharCode(one.charCodeAt(0) + 13))],
])('a secret of letters only %s', (_, encoded) => {
  expect(found.show(`it says (${encoded}) here`)).toMatch(/^it says .{0,5}(?:\[secret\]|…).{0,5} here$/);
});

test('a secret of several words is found with any spaces between them', () => {
  const found = foreignText(['correct horse battery']);
  for (const text of ['correct%20horse%20battery', 'Correct-Horse_battery', 'CORRECTHORSEBATTERY']) {
    expect(found.show(`it is ${text}.`)).toBe('it is [secret].');
  }
});

test('a secret of other letters is found in other case and in NFD', () => {
  const found = foreignText(['Пароль-мой']);
  for (const text of ['ПАРОЛЬ-МОЙ', 'Пароль-мой'.normalize('NFD')])
    expect(found.show(`it is ${text}.`)).toBe('it is [secret].');
  expect(found.show(`it is ${Buffer.from('Пароль-мой').toString('latin1')}`)).toBe('it is …');
});

describe('text without a secret', () => {
  test.each([
    '',
    'an ordinary message: 100 % of 5 & more, see https://example.com/a%20b?c=d&amp;e',
    'record-1 0b7f9f4e-2d0f-4c56-9f7a-3c5d8c1f2e11',
    'S3cr/t+',
    '\\u00zz %zz &unknown; &#99999999; \\',
    'internationalisation of Rechtsschutzversicherung – bitte „Administrator“ fragen',
    'certificate 1001 expired on 2026-11-24 10:24:31 or 2026-11-24T10:24:31Z; 3 of 10 calls in 60 s (5 %)',
    '{"error":"invalid_grant","error_description":"The provided token is expired"}',
    "HTTPSConnectionPool(host='codesign.example.com', port=443): url /v1/codesign/report-sign, status=500",
    'com.example.QuotaExceededException at Service.sign(Service.java:123)',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE with SHA256 in codesign-server/1.2.3-beta.4',
    'connect ECONNREFUSED 192.168.100.100:8443',
    '证书不存在，请联系管理员并检查您的访问密钥设置是否正确以及证书是否过期',
  ])('%j stays as it is', (text) => {
    expect(foreign.show(text)).toBe(text);
    expect(print(text)).toBe(printable(text));
    expect(foreign.holdsSecret(text)).toBe(false);
  });

  test('half a character is printed as its number', () => {
    expect(print('\ud800 half a pair')).toBe('\\u{d800} half a pair');
  });

  test.each([
    ['id 4bf92f3577b34da6a3ce929d0e0e4736 of it', 'id … of it'],
    ['id 4bf92f3577b34da of it', 'id 4bf92f3577b34da of it'],
    ['at https://example.com/v1/sign?state=af0ifjsldkj&nonce=n-0S6 only', 'at https://example.com/v1/sign… only'],
    ['see https://example.com/4bf92f3577b34da6a3ce929d0e0e4736 for more', 'see … for more'],
    ['see https://user:word@example.com/x or //word@example.com', 'see https://example.com/x or //example.com'],
    ['83 51 99 114 47 116', '…'],
    ['MFRGGZDFMZTWQTLK', '…'],
    ['one 123456 789012345 two', 'one … two'],
  ])('of %j, runs that are not words are left out', (text, shown) => {
    expect(print(text)).toBe(shown);
  });
});

test('a secret that reads as an escape masks nothing else', () => {
  const odd = foreignText(['%41\\n&lt;secret', 'ab\\u0041']);
  expect(odd.show('A, secrets, ab, abA')).toBe('A, secrets, ab, abA');
  expect(odd.show('it is %41\\n&lt;secret.')).toBe('it is [secret].');
  expect(odd.show('it is %2541\\\\n&amp;lt;secret.')).toBe('it is …');
});

test('a short secret is masked, but does not make an id unusable', () => {
  const short = foreignText(['abc', '']);
  expect(short.show('the abc')).toBe('the [secret]');
  expect(short.holdsSecret('1-abc')).toBe(false);
});

describe('what is kept', () => {
  test.each([
    ...['as it is', 'in an address', 'in hexadecimal', 'in base64url from 1', 'in Base64 with line breaks'],
    ...['in Base64 twice', 'in Base64 of an address', 'in Base64 of hexadecimal', 'in Base64 of UTF-16'],
    ...['in Base64 of the other UTF-16', 'in Base64 of JSON', 'in hexadecimal of the token'],
  ])('is known to hold a secret %s', (form) => expect(foreign.holdsSecret(`r-${ENCODED[form]}`)).toBe(true));

  test('is masked without losing anything else', () => {
    expect(foreign.mask(`4bf92f3577b34da6a3ce929d0e0e4736 ${SECRET}`)).toBe(
      '4bf92f3577b34da6a3ce929d0e0e4736 [secret]',
    );
  });
});

test('a secret at the end of a long text is masked, whatever precedes it', () => {
  for (const unit of ['\\\\\\', '&amp;amp;', '%2525', 'S3cr\\/t', '=\r\n ', 'https://a?', 'word-1 ', '  1']) {
    expect(foreign.show(`${unit.repeat(4000)} ${SECRET}`)).not.toContain(SECRET);
  }
});
