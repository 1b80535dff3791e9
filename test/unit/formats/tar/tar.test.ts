import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { tar } from '../../../../src/formats/tar/index.ts';
import { contentsOf } from '../../../support/containers/contents.ts';
import { makeTar, paxRecord, TAR_END } from '../../../support/containers/make-tar.ts';
import { folderForAll } from '../../../support/set-up.ts';

const LONG = `${'folder/'.repeat(30)}file.txt`;
const folder = folderForAll();
beforeAll(async () => {
  await mkdir(join(folder, 'in', LONG, '..'), { recursive: true });
  await writeFile(join(folder, 'in', LONG), 'long');
  await writeFile(join(folder, 'in/ä.txt'), 'x'.repeat(1000));
  await symlink('ä.txt', join(folder, 'in/link'));
});

const withTar = (...args: readonly string[]): Buffer =>
  execFileSync('tar', [...args, '-c', '-f', '-', '.'], { cwd: join(folder, 'in') });

describe('archives of GNU tar', () => {
  it.each(['gnu', 'oldgnu', 'pax'])('are read in the form %s', async (form) => {
    const found = await contentsOf(tar, withTar(`--format=${form}`));
    expect(found).toEqual({ [`./${LONG}`]: 'long', './ä.txt': 'x'.repeat(1000) });
  });

  it.each([['--format=ustar'], ['--format=v7'], ['-z']])('are read without long names: %s', async (option) => {
    expect(await contentsOf(tar, withTar(option, '--exclude=folder'))).toEqual({ './ä.txt': 'x'.repeat(1000) });
  });

  it('are rejected if they contain a sparse file, however large it is', async () => {
    await writeFile(join(folder, 'sparse'), '');
    execFileSync('truncate', ['-s', '1T', join(folder, 'sparse')]);
    for (const form of ['gnu', 'pax']) {
      const bytes = execFileSync('tar', ['-S', `--format=${form}`, '-C', folder, '-c', '-f', '-', 'sparse']);
      await expect(contentsOf(tar, bytes)).rejects.toMatchObject({ code: 'tar-unsupported' });
    }
  });
});

it('reads gzip data that is no archive as one file', async () => {
  expect(await contentsOf(tar, gzipSync('text'), 'dist/notes.txt.gz')).toEqual({ 'notes.txt': 'text' });
});

it('applies a global pax header to all entries, and another one only to the next', async () => {
  const archive = makeTar([
    { name: 'global', type: 'g', content: paxRecord('comment', 'x') },
    { name: 'own', type: 'x', content: Buffer.concat([paxRecord('path', 'renamed'), paxRecord('size', '2')]) },
    { name: 'a', content: Buffer.from('ab'), size: 2 },
    { name: 'b', content: Buffer.from('cd') },
  ]);
  expect(await contentsOf(tar, archive)).toEqual({ renamed: 'ab', b: 'cd' });
});

it.each(['D', 'V'])('skips the contents of entries with the type %s, as GNU tar does', async (type) => {
  const decoy = makeTar([{ name: 'b', content: Buffer.alloc(512) }]).subarray(0, 512);
  const archive = makeTar([
    { name: 'a', type, content: decoy },
    { name: 'c', content: Buffer.from('x') },
  ]);
  expect(await contentsOf(tar, archive)).toEqual({ c: 'x' });
});

it('reads entries of unknown types as files, because GNU tar extracts them', async () => {
  expect(await contentsOf(tar, makeTar([{ name: 'a', type: 'Z', content: Buffer.from('x') }]))).toEqual({ a: 'x' });
});

it('reads a second archive after the end of the first', async () => {
  const both = [makeTar([{ name: 'a' }]), makeTar([{ name: 'b' }])];
  expect(Object.keys(await contentsOf(tar, Buffer.concat(both)))).toEqual(['a', 'b']);
});

const FILE = makeTar([{ name: 'a', content: Buffer.alloc(2000) }]);
const wrongSum = Buffer.concat([makeTar([{ name: 'a' }], true), Buffer.alloc(512, 1), TAR_END]);

it.each([
  ['its data is cut off', FILE.subarray(0, 1024), 'is cut off'],
  ['its end is cut off', FILE.subarray(0, 512 + 2048), 'without the blocks that mark its end'],
  ['a header has a wrong checksum', wrongSum, 'wrong checksum'],
  ['data follows its end', Buffer.concat([FILE, Buffer.from('x')]), 'after its end'],
  ['a size is not a number', makeTar([{ name: 'a', type: 'x', content: paxRecord('size', '-1') }]), 'not a number'],
  ['a pax record is damaged', makeTar([{ name: 'a', type: 'x', content: Buffer.from('99 a=b\n') }]), 'damaged record'],
])('rejects an archive if %s', async (_what, bytes, problem) => {
  await expect(contentsOf(tar, bytes)).rejects.toMatchObject({
    code: 'file-malformed',
    message: expect.stringContaining(problem),
  });
});

it('rejects damaged gzip data, and data of more than 1000 times its size', async () => {
  await expect(contentsOf(tar, gzipSync(FILE).subarray(0, -9))).rejects.toMatchObject({ code: 'file-malformed' });
  const member = gzipSync(Buffer.alloc(4 * 1024 * 1024), { level: 9 });
  const bomb = Buffer.concat(Array(26).fill(member));
  await expect(contentsOf(tar, bomb)).rejects.toMatchObject({ code: 'contents-too-large' });
});
