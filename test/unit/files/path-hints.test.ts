import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inFileSystem } from '../../../src/files/file-system-errors.ts';
import { lookUp } from '../../../src/options/lookup.ts';
import { fixture, temporaryFolder } from '../../support/programs/cli.ts';

it.each<readonly [string, RegExp]>([
  ['pe/helo.exe', /^Did you mean hello\.exe\? /],
  ['pe/nothing-like-it.bin', /^Check the path/],
  ['no-such-folder/hello.exe', /^Check the path/],
  ...(process.platform === 'win32' ? [] : [['pe\\*.exe', /^Did you mean \S+\/pe\/\*\.exe\? /] as const]),
])('hints at what was meant by %s', async (path, hint) => {
  const failure = inFileSystem('read the file', () => stat(fixture(path)));
  await expect(failure).rejects.toMatchObject({ code: 'file-not-found', hint: expect.stringMatching(hint) });
});

it('hints at a name in another Unicode form', async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'für.exe'.normalize('NFD')), '');
  const failure = inFileSystem('read the file', () => stat(join(folder.path, 'für.exe'.normalize('NFC'))));
  await expect(failure).rejects.toMatchObject({ hint: expect.stringContaining('another Unicode form (NFC or NFD)') });
});

it('rejects standard output as --output', () => {
  expect(() => lookUp({ output: '-' }, {}).read('output')).toThrow('--output: "-" is not a path');
});
