/** What is treated as a mistyped word, and what is not. */

import { expect, test } from 'vitest';
import { suggest } from '../../../src/options/suggest.ts';

const KNOWN = ['algorithm', 'timestampUrl', 'timestampPolicy', 'code', 'url'];

test.each([
  ['algoritm', 'algorithm'],
  ['Algorithm', 'algorithm'],
  ['timestamp_url', 'timestampUrl'],
  ['timestampUrls', 'timestampUrl'],
  ['timestampPolcy', 'timestampPolicy'],
  ['cod', 'code'],
  ['uri', 'url'],
  ['x', undefined],
  ['something', undefined],
  ['time', 'timestampUrl'],
  ['algo', 'algorithm'],
  ['coed', 'code'],
  ['cord', undefined],
  ['cards', undefined],
  ['u', undefined],
  ['', undefined],
  ['a'.repeat(100_000), undefined],
])('%s: %s', (word, meant) => {
  expect(suggest(word, KNOWN)).toBe(meant);
});
