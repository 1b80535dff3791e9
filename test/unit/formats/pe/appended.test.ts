import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pe } from '../../../../src/formats/pe/index.ts';
import { contentsOf } from '../../../support/containers/contents.ts';
import { cabOf } from '../../../support/containers/make-cab.ts';
import { zipOf } from '../../../support/containers/make-zip.ts';
import { REPOSITORY } from '../../../support/programs/cli.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { signBytes } from '../support/sign-bytes.ts';

const PROGRAM = await readFile(join(REPOSITORY, 'fixtures/pe/hello.exe'));
const zip = zipOf({ 'a/b.dll': Buffer.from('library') });
const [first, second] = [cabOf({ u0: Buffer.from('manifest') }), cabOf({ a0: Buffer.from('payload') }, true)];
const bundle = Buffer.concat([PROGRAM, first, Buffer.alloc(3000, 'signature'), second, Buffer.from('end')]);
const IN_BUNDLE = { 'cabinet-1/u0': 'manifest', 'cabinet-2/a0': 'payload' };

it.each([
  ['nothing', PROGRAM, {}],
  ['other data', Buffer.concat([PROGRAM, Buffer.from('MSCF\0\0\0\0 is not enough for a cabinet of any size')]), {}],
  ['a ZIP archive', Buffer.concat([PROGRAM, zip]), { 'a/b.dll': 'library' }],
  ['cabinets', bundle, IN_BUNDLE],
])('reads the files in %s after a program', async (_what, bytes, files) => {
  expect(await contentsOf(pe, bytes)).toEqual(files);
});

it('reads them before a signature too', async () => {
  const signer = await makeThrowawaySigner();
  expect(await contentsOf(pe, (await signBytes(pe, Buffer.concat([PROGRAM, zip]), signer)).result)).toEqual({
    'a/b.dll': 'library',
  });
  expect(await contentsOf(pe, (await signBytes(pe, bundle, signer)).result)).toEqual(IN_BUNDLE);
});

it('reads a ZIP archive whose offsets count from the start of the program', async () => {
  const offset = Buffer.from(zip);
  const directory = offset.indexOf('PK\x01\x02');
  offset.writeUInt32LE(PROGRAM.length, directory + 42);
  offset.writeUInt32LE(PROGRAM.length + directory, offset.length - 6);
  expect(await contentsOf(pe, Buffer.concat([PROGRAM, offset]))).toEqual({ 'a/b.dll': 'library' });
});

it.each([
  ['7-Zip', '7z\xbc\xaf\x27\x1c'],
  ['RAR', 'Rar!\x1a\x07'],
  ['Inno Setup', 'zlb\x1a'],
  ['NSIS', `\0\0\0\0\xef\xbe\xad\xdeNullsoftInst`],
])('says that the data of %s cannot be read', async (name, mark) => {
  const bytes = Buffer.concat([PROGRAM, Buffer.from(mark, 'latin1')]);
  const message = expect.stringContaining(name);
  await expect(contentsOf(pe, bytes)).rejects.toMatchObject({ code: 'container-unsupported', message });
});
