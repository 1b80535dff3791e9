import { expect, it } from 'vitest';
import { locationPattern } from '../../../src/policy/location-patterns.ts';

const APP = ['win/app.zip', 'bin/App.exe'];

it.each([
  ['*.exe', APP, true],
  ['app.*', APP, true],
  ['win/app.zip!/bin/*.exe', APP, true],
  ['win/*!/bin/app.exe', APP, true],
  ['win/*/bin/app.exe', APP, false],
  ['win/**', APP, true],
  ['bin/*.exe', APP, false],
  ['**/bin/*.exe', APP, true],
  ['{win,mac}/**/*.{exe,dll}', APP, true],
  ['*.zip', ['win/app.zip'], true],
  ['**/.hidden/*', ['a/.hidden/b'], true],
  ['a!/b', ['a!/b'], false],
  ['**/b', ['a!', 'b'], true],
])('%s matches %j: %s', (pattern, path, matches) => {
  expect(locationPattern(pattern)(path)).toBe(matches);
});
