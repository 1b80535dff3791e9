/** Options in front of the command, as git, docker and kubectl accept them. */

import { expect, it } from 'vitest';
import { commandFirst } from '../../../src/cli/input/command-first.ts';

it.each([
  ['--verbose sign x', 'sign --verbose x'],
  ['--profile work sign x', 'sign --profile work x'],
  ['-p sign sign x', 'sign -p sign x'],
  ['-pwork sign x', 'sign -pwork x'],
  ['--unknown sign x', 'sign --unknown x'],
  ['--profile work config list', 'config list --profile work'],
  ['-p work config --origin list', 'config list -p work --origin'],
  ['config --profile work set code 5', 'config set --profile work code 5'],
  ['-v unknown x', 'unknown -v x'],
])('%s is read as %s', (typed, read) => {
  expect(commandFirst(typed.split(' '))).toEqual(read.split(' '));
});

it.each(['sign --profile work x', '--version sign', '-- sign x', '--verbose', '--tolken unknown x', '--profile sign'])(
  '%s stays as it is',
  (typed) => {
    expect(commandFirst(typed.split(' '))).toEqual(typed.split(' '));
  },
);
