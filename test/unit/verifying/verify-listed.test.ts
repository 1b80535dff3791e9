/** Files whose signature is that of a catalog. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { newCatalog } from '../../../src/formats/cat/create.ts';
import { cat } from '../../../src/formats/cat/index.ts';
import { listedFile } from '../../../src/formats/catalogs.ts';
import { formats } from '../../../src/formats/registry.ts';
import { verifyByCatalog } from '../../../src/verifying/verify-listed.ts';
import { flipped } from '../../support/flipped.ts';
import { folderForAll } from '../../support/set-up.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { readFixture } from '../formats/support/fixtures.ts';
import { plainReader, signBytes } from '../formats/support/sign-bytes.ts';
import { INTEGRITY_ONLY } from './support/integrity-only.ts';

const program = readFixture('pe/hello.exe');
const notes = Buffer.from('notes');
const folder = folderForAll();
const write = async (name: string, bytes: Uint8Array | string) => {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
};
const listed = (name: string, bytes: Uint8Array) => listedFile(memorySource(bytes), plainReader(), name);
const unsigned = newCatalog([await listed('app.exe', program), await listed('notes.txt', notes)], new Date());
const { result: signed } = await signBytes(cat, unsigned, await makeThrowawaySigner());
await write('files.cat', signed);
await write('unsigned.cat', unsigned);
await write('broken.cat', flipped(signed, signed.length - 9));
await write('cut.cat', signed.subarray(0, 600));

const changed = Buffer.from(program);
changed[2] = 0x20;

it.each<[name: string, bytes: Uint8Array, verdict: string, codes: readonly string[]]>([
  ['app.exe', program, 'intact', []],
  ['renamed.bin', notes, 'intact', []],
  ['app.exe', changed, 'broken', ['listed-digest-differs']],
  ['app.exe', program.subarray(0, 40), 'broken', ['listed-digest-differs']],
  ['NOTES.TXT', Buffer.from('other'), 'broken', ['listed-digest-differs']],
  ['new.txt', Buffer.from('new'), 'unsigned', []],
])('%s: the verdict is %3$s', async (name, bytes, verdict, codes) => {
  const catalog = join(folder, 'files.cat');
  const verify = await verifyByCatalog(catalog, INTEGRITY_ONLY);
  const result = await verify(await write(name, bytes));
  expect(result).toMatchObject({ verdict, catalog, format: null, error: undefined });
  expect(result.findings.map(({ code }) => code)).toEqual(codes);
  expect(result.signatures).toHaveLength(verdict === 'intact' ? 1 : 0);
});

it('opens the catalog once: its list is the one that the signature was checked for', async () => {
  let opened = 0;
  const counted = formats.map((format) => ({
    ...format,
    open: (...given: Parameters<typeof format.open>) => {
      opened += 1;
      return format.open(...given);
    },
  }));
  const verify = await verifyByCatalog(join(folder, 'files.cat'), { ...INTEGRITY_ONLY, formats: counted });
  expect(await verify(await write('notes.txt', notes))).toMatchObject({ verdict: 'intact' });
  expect(opened).toBe(1);
});

it.each([
  ['unsigned.cat', 'unsigned'],
  ['broken.cat', 'broken'],
  ['cut.cat', 'broken'],
])('%s passes its verdict on to every file', async (name, verdict) => {
  const verify = await verifyByCatalog(join(folder, name), INTEGRITY_ONLY);
  expect(await verify(await write('notes.txt', notes))).toMatchObject({ verdict });
});

it('reports a file that cannot be read, and rejects a file that is not a catalog', async () => {
  const verify = await verifyByCatalog(join(folder, 'files.cat'), INTEGRITY_ONLY);
  expect(await verify(join(folder, 'missing'))).toMatchObject({ verdict: null, error: { code: 'file-not-found' } });
  const others = [await write('other.exe', program), await write('other.txt', notes), join(folder, 'missing')];
  for (const path of others) {
    await expect(verifyByCatalog(path, INTEGRITY_ONLY)).rejects.toMatchObject({ code: 'catalog-unusable' });
  }
});
