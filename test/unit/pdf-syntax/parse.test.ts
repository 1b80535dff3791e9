/** Literal strings of PDF, with the examples of ISO 32000-2, 7.3.4.2. */

import { describe, expect, it } from 'vitest';
import { MoreNeeded, parser } from '../../../src/pdf-syntax/parse.ts';

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('a literal string', () => {
  it.each([
    ['()', ''],
    ['(a (nested (pair)) of () parentheses)', 'a (nested (pair)) of () parentheses'],
    ['(special characters *!&}^% and so on)', 'special characters *!&}^% and so on'],
    ['(two lines\r\nof one\rstring\n)', 'two lines\nof one\nstring\n'],
    ['(These \\\r\ntwo strings \\\nare the \\\rsame.)', 'These two strings are the same.'],
    ['(\\n\\r\\t\\b\\f\\(\\)\\\\)', '\n\r\t\b\f()\\'],
    ['(\\245 and \\0053, \\53 and \\5x)', '\xa5 and \x053, + and \x05x'],
    ['(an unknown \\escape)', 'an unknown escape'],
    ['(\\)\\()', ')('],
    [`(${'x'.repeat(1000)}\\)${'y'.repeat(3000)})`, `${'x'.repeat(1000)})${'y'.repeat(3000)}`],
  ])('%#: is read with its escapes and ends of line', (written, value) => {
    const read = parser(bytesOf(`${written} /Next`), 100, true);
    const string = read.value();
    expect(string).toMatchObject({ kind: 'string', isHex: false, start: 100, end: 100 + written.length });
    expect(Buffer.from((string as { bytes: Uint8Array }).bytes).toString('latin1')).toBe(value);
    expect(read.value()).toEqual({ kind: 'name', name: 'Next' });
  });

  it.each(['(', '(abc', '(abc\\', '(a(b)', '(abc\r'])(
    'without its end needs more bytes, or is malformed: %j',
    (cut) => {
      expect(() => parser(bytesOf(cut), 0, false).value()).toThrow(MoreNeeded);
      expect(() => parser(bytesOf(cut), 0, true).value()).toThrow(expect.objectContaining({ code: 'pdf-malformed' }));
    },
  );
});
