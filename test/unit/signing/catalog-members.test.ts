import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { newCatalog } from '../../../src/formats/cat/create.ts';
import { listedFile } from '../../../src/formats/catalogs.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import { plainReader } from '../formats/support/sign-bytes.ts';
import { journalScene } from './journal-scene.ts';

it('rejects a run that would change a file in a catalog that it signs, before any request', async () => {
  await using scene = await journalScene();
  const program = (await scene.program('app.exe')).path;
  const other = (await scene.program('other.exe')).path;
  const catalog = join(scene.folder, 'files.cat');
  const listed = await listedFile(memorySource(await readFile(program)), plainReader(), 'app.exe');
  await writeFile(catalog, newCatalog([listed], new Date()));
  const signing = async (paths: readonly string[]) =>
    signFiles(
      paths.map((path) => ({ path, output: path })),
      scene.signing(await scene.open(), {}),
    );
  await expect(signing([program, catalog])).rejects.toMatchObject({ code: 'catalog-member-changes' });
  expect(scene.service.asked).toBe(0);
  const { files } = await signing([other, catalog]);
  expect(files.map(({ status, format }) => `${status} ${format}`)).toEqual(['signed pe', 'signed cat']);
});
