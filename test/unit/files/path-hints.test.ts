import { stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { inFileSystem } from '../../../src/files/file-system-errors.ts';
import { lookUp } from '../../../src/options/lookup.ts';
import { fixture } from '../../support/programs/cli.ts';

it.each<readonly [string, RegExp]>([
  ['pe/helo.exe', /^Did you mean hello\.exe\? /],
  ['pe/nothing-like-it.bin', /^Check the path/],
  ['no-such-folder/hello.exe', /^Check the path/],
  ...(process.platform === 'win32' ? [] : [['pe\\*.exe', /^Did you mean \S+\/pe\/\*\.exe\? /] as const]),
])('hints at what was meant by %s', async (path, hint) => {
  const failure = inFileSystem('read the file', () => stat(fixture(path)));
  await expect(failure).rejects.toMatchObject({ code: 'file-not-found', hint: expect.stringMatching(hint) });
});

it('rejects standard output as --output', () => {
  expect(() => lookUp({ output: '-' }, {}).read('output')).toThrow('--output: "-" is not a path');
});
