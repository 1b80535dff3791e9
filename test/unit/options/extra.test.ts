import { expect, it } from 'vitest';
import { resolveExtra } from '../../../src/options/extra.ts';
import { lookUp, NOTHING_STORED, type OptionValues, type Stored } from '../../../src/options/lookup.ts';
import type { Environment } from '../../../src/options/table.ts';

const values: Stored['profile']['values'] = new Map([
  ['extra', ['hostname=', 'signing_filename=stored.exe']],
  ['fileName', ['hide']],
]);
const PROFILE: Stored = { project: undefined, profile: { ...NOTHING_STORED.profile, values } };

function resolve(options: OptionValues, env: Environment = {}, stored = PROFILE) {
  const look = lookUp(options, env, stored);
  return resolveExtra(look.read('extra'), look.read('fileName'));
}

it('keeps what the profile hides when options name other members', () => {
  expect(resolve({ extra: ['version=2'] })).toEqual({ hostname: '', version: '2', signing_filename: '' });
});

it('takes the option before the profile, and the last of several values of one member', () => {
  expect(resolve({ extra: ['hostname=a', 'hostname=b'] })).toMatchObject({ hostname: 'b' });
});

it('hides the file name unless an option or the variable says that it is sent', () => {
  expect(resolve({ extra: ['signing_filename=typed.exe'] })).toMatchObject({ signing_filename: '' });
  expect(resolve({ fileName: 'send' })).toMatchObject({ signing_filename: 'stored.exe' });
  expect(resolve({}, { CODESIGN_FILE_NAME: 'send' })).toMatchObject({ signing_filename: 'stored.exe' });
  const typed = resolve({ fileName: 'send', extra: ['signing_filename=typed.exe'] });
  expect(typed).toMatchObject({ signing_filename: 'typed.exe' });
});
