import { expect, it } from 'vitest';
import { widthOf } from '../../../../src/cli/output/text-layout.ts';

it.each([
  ['app.exe', 7],
  ['é', 1],
  ['e\u0301', 1],
  ['文', 2],
  ['한글', 4],
  ['\u1112\u1161\u11ab', 2],
  ['Ａ', 2],
  ['ｱ', 1],
  ['①', 1],
  ['☺', 1],
  ['☺\ufe0f', 2],
  ['👩\u200d💻', 2],
  ['🇩🇪', 2],
  ['👍🏽', 2],
  ['\u200b', 0],
  ['\u202e', 0],
  ['𠀀', 2],
])('counts the columns of %j as %i', (text, columns) => {
  expect(widthOf(text)).toBe(columns);
});
