/** Secrets are found in text from outside in every encoding in which they may come back, and nothing else is. */

import { describe, expect, test } from 'vitest';
import { searchFor } from '../../../src/secrets/secret-search.ts';

const SECRET = 'S3cr/t+"key" <ä&\\1>=~';
const TOKEN = Buffer.from(`access-key:${SECRET}`).toString('base64');
const search = searchFor([TOKEN, SECRET]);

const points = (encode: (point: number) => string): string =>
  [...SECRET].map((character) => encode(character.codePointAt(0) ?? 0)).join('');
const bytes = (encode: (byte: number) => string, text = SECRET): string => [...Buffer.from(text)].map(encode).join('');
const hex = (number: number, digits = 2): string => number.toString(16).padStart(digits, '0');
const base64 = (text: string | Buffer, before = ''): string =>
  Buffer.concat([Buffer.from(before), Buffer.from(text), Buffer.from('tail')]).toString('base64');
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
};

test.each(Object.entries(ENCODED))('a secret %s is found and masked', (_, encoded) => {
  expect(search.isIn(`told (${encoded})`)).toBe(true);
  const masked = search.mask(`told (${encoded}) by`);
  expect(masked).toMatch(/^told \(.{0,24}\[secret\].{0,24}\) by$/s);
  // Twice, with text in between: no part is lost or left.
  expect(search.mask(`${encoded} and ${encoded}`).match(/\[secret\]/g)).toHaveLength(2);
});

describe('text without a secret', () => {
  test.each([
    '',
    'an ordinary message: 100 % of 5 & more, see https://example.com/a%20b?c=d&amp;e',
    'record-1 0b7f9f4e-2d0f-4c56-9f7a-3c5d8c1f2e11',
    'S3cr/t+',
    '\\u00zz %zz &unknown; &#99999999; \\',
    '\ud800 half a pair',
  ])('%j stays as it is', (text) => {
    expect(search.mask(text)).toBe(text);
    expect(search.isIn(text)).toBe(false);
  });
});

test('a secret that reads as an escape masks nothing else', () => {
  const odd = searchFor(['%41\\n&lt;secret', 'ab\\u0041']);
  expect(odd.mask('A, secrets, ab, abA')).toBe('A, secrets, ab, abA');
  expect(odd.mask('it is %41\\n&lt;secret.')).toBe('it is [secret].');
  expect(odd.mask('it is %2541\\\\n&amp;lt;secret.')).toBe('it is [secret].');
});

test('a short secret is masked, but does not make an id of something', () => {
  const short = searchFor(['abc', '']);
  expect(short.mask('the abc')).toBe('the [secret]');
  expect(short.isIn('1-abc')).toBe(false);
});

test('a text of a mebibyte of escapes is searched in time that grows with its length alone', () => {
  const time = (text: string): number => {
    const started = process.cpuUsage();
    search.mask(text);
    const { user, system } = process.cpuUsage(started);
    return user + system;
  };
  for (const unit of ['\\\\\\', '&amp;amp;', '%2525', 'S3cr\\/t', '=\r\n ']) {
    time(unit.repeat(2000));
    const small = Math.max(time(unit.repeat(4000)), 4000);
    expect(time(unit.repeat(32_000)) / small).toBeLessThan(40);
  }
});
