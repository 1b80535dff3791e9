/** Outside text is printed without anything that acts on a terminal, and not at any length. */

import { expect, test } from 'vitest';
import { asClause } from '../../../src/errors/finding.ts';
import { printable } from '../../../src/errors/printable.ts';

test.each([
  ['plain text, ümlauts, 日本語, 👩‍💻 and C:\\paths', 'plain text, ümlauts, 日本語, 👩‍💻 and C:\\paths'],
  ['\u001b[2J\u0007', '\\x1b[2J\\x07'],
  ['a\tb\r\nc\0', 'a\\tb\\r\\nc\\x00'],
  ['\u007f\u0080\u009b31m\u0085', '\\x7f\\x80\\x9b31m\\x85'],
  ['\u2028\u2029', '\\u{2028}\\u{2029}'],
  ['exe.\u202egpj\u2066\u2069\u200e\u200f\u061c', 'exe.\\u{202e}gpj\\u{2066}\\u{2069}\\u{200e}\\u{200f}\\u{61c}'],
  ['\ud800x', '\\u{d800}x'],
  ['::set-output name=a::b', ':\\x3aset-output name=a::b'],
  ['a ##[add-mask]b ##vso[task.complete]', 'a #\\x23[add-mask]b #\\x23vso[task.complete]'],
  ['std::string, ::1, ## [x]', 'std::string, ::1, ## [x]'],
  ['', ''],
])('%j', (text, expected) => {
  expect(printable(text)).toBe(expected);
});

test('a long text is cut, with an ellipsis', () => {
  expect(printable('x'.repeat(10), 10)).toBe('x'.repeat(10));
  expect(printable('x'.repeat(11), 10)).toBe(`${'x'.repeat(10)}…`);
  expect(printable('😀'.repeat(11), 10)).toBe(`${'😀'.repeat(10)}…`);
  expect(printable('y'.repeat(10_000_000)).length).toBe(301);
  expect(printable('\u001b'.repeat(20), 10)).toBe(`${'\\x1b'.repeat(10)}…`);
});

test('escapes every control character', () => {
  const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code));
  expect(all.filter((one) => /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(printable(one)))).toEqual([]);
});

test.each([
  ['The file changed.', 'the file changed'],
  ['CheckSum in the header is wrong.', 'CheckSum in the header is wrong'],
  ['SHA-1 is weak.', 'SHA-1 is weak'],
])('a finding after a colon keeps its names: %s', (message, clause) => {
  expect(asClause({ message })).toBe(clause);
});
