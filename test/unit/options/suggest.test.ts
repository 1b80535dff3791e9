/** What is treated as a mistyped word, and what is not. */

import { expect, test } from 'vitest';
import { suggest } from '../../../src/options/suggest.ts';

const KNOWN = ['algorithm', 'timestampUrl', 'timestampPolicy', 'code', 'url'];

test.each([
  ['algoritm', 'algorithm'],
  ['timestamp_url', 'timestampUrl'],
  ['timestampUrls', 'timestampUrl'],
  ['cod', 'code'],
  ['uri', 'url'],
  ['x', undefined],
  ['something', undefined],
  ['time', 'timestampUrl'],
  ['coed', 'code'],
  ['cord', undefined],
  ['', undefined],
  ['a'.repeat(100_000), undefined],
])('%s: %s', (word, meant) => {
  expect(suggest(word, KNOWN)).toBe(meant);
});
