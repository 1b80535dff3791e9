import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { msi } from '../../../../src/formats/msi/index.ts';
import { contentsOf } from '../../../support/containers/contents.ts';
import { cabOf } from '../../../support/containers/make-cab.ts';
import { folderForAll } from '../../../support/set-up.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS;
const folder = folderForAll();

async function extracted(path: string): Promise<readonly (readonly [string, string])[]> {
  const target = join(folder, `${basename(path)}-extracted`);
  await mkdir(target);
  execFileSync('msiextract', ['-C', target, path]);
  const files = (await readdir(target, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
  return await Promise.all(
    files.map(async ({ name, parentPath }) => [name, await readFile(join(parentPath, name), 'utf8')] as const),
  );
}

it.runIf(corpus).each(['made__wixl-many.msi', 'made__wixl-small.msi'])(
  'reads the files that msiextract extracts: %s',
  async (name) => {
    const path = join(`${corpus}/msi`, name);
    const found = Object.entries(await contentsOf(msi, await readFile(path)));
    const named = found.map(([file, text]) => [file.replace(/ \(.*/, ''), text] as const);
    expect(named.sort()).toEqual([...(await extracted(path))].sort());
  },
);

it('reads an installer of msibuild', async () => {
  const at = (name: string) => join(folder, name);
  await writeFile(at('File.idt'), 'File\tFileName\tFileSize\ns72\tl255\ti4\nFile\tFile\nF0\tAPP~1.EXE|app.exe\t5\n');
  await writeFile(at('Media.idt'), 'DiskId\tLastSequence\tCabinet\ni2\ti4\tS255\nMedia\tDiskId\n1\t1\t#one.cab\n');
  await writeFile(at('one.cab'), cabOf({ F0: Buffer.from('hello') }, true));
  await writeFile(at('x.dll'), 'library');
  const streams = ['-a', 'one.cab', 'one.cab', '-a', 'Binary.x.dll', 'x.dll'];
  execFileSync('msibuild', ['built.msi', '-i', 'File.idt', 'Media.idt', ...streams], { cwd: folder });
  expect(await contentsOf(msi, await readFile(at('built.msi')))).toEqual({
    'Binary.x.dll': 'library',
    'app.exe (F0)': 'hello',
  });
});
