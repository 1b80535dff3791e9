/** `codesign-remote verify --inside` as a user runs it, with archives that continue in others, or unpack to too much. */

import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cabOf, cabSet } from '../../../support/containers/make-cab.ts';
import { zipOf } from '../../../support/containers/make-zip.ts';
import { REPOSITORY, runCli } from '../../../support/programs/cli.ts';
import { folderForAll } from '../../../support/set-up.ts';

const GOLDEN = join(REPOSITORY, 'fixtures', 'golden');
const ROOT = join(GOLDEN, 'root.pem');
const SIGNED = join(GOLDEN, 'sha256-rsa2048.exe');
const UNSIGNED = join(REPOSITORY, 'fixtures', 'pe', 'hello.exe');
const folder = folderForAll();

it('agrees with the verdicts on the files that cabextract unpacks', async () => {
  const [unpacked, packed] = [join(folder, 'unpacked'), join(folder, 'packed')];
  await mkdir(unpacked);
  await mkdir(packed);
  const [good, bad] = [await readFile(SIGNED), await readFile(UNSIGNED)];
  await writeFile(join(packed, 'a.cab'), cabOf({ 'good.exe': good, 'bad.exe': bad }, true));
  const installer = ['1.idt', '2.idt'].map((name) => join(folder, name));
  await writeFile(
    installer[0] ?? '',
    'File\tFileName\tComponent_\ns72\tl255\ts72\nFile\tFile\nF0\tgood.dll\tC\nF1\tbad.dll\tC\n',
  );
  await writeFile(installer[1] ?? '', 'DiskId\tCabinet\ni2\tS255\nMedia\tDiskId\n1\t#c\n');
  await writeFile(join(folder, 'c'), cabOf({ F0: good, F1: bad }, true));
  execFileSync('msibuild', [join(packed, 'a.msi'), '-i', ...installer, '-a', 'c', 'c'], { cwd: folder });
  execFileSync('cabextract', ['-q', '-d', unpacked, join(packed, 'a.cab')]);
  execFileSync('cabextract', ['-q', '-d', unpacked, join(folder, 'c')]);
  const verify = async (...args: string[]) =>
    JSON.parse((await runCli(['verify', '--json', '--roots', ROOT, ...args])).stdout);
  const separate = await verify('--recursive', unpacked);
  const { files } = await verify('--inside', packed);
  const verdicts = (all: readonly { readonly verdict: string }[]) => all.map(({ verdict }) => verdict).sort();
  expect(verdicts(files.flatMap((file: { inside: [] }) => file.inside))).toEqual(verdicts(separate.files));
});

it('opens cabinets that continue in files next to them', async () => {
  const set = join(folder, 'set');
  await mkdir(set);
  const names = ['1.cab', '2.cab'] as const;
  const cabinets = cabSet('bad.exe', await readFile(UNSIGNED), names);
  for (const [index, name] of names.entries()) await writeFile(join(set, name), cabinets[index] ?? '');
  const { stdout } = await runCli(['verify', '--inside', '--roots', ROOT, set]);
  expect(stdout).toBe(
    `unsigned      ${join(set, '1.cab')}!/bad.exe: not signed\n0 good, 1 failed, 2 need no signature\n`,
  );
});

it('limits the unpacked size', async () => {
  const path = join(folder, 'large.zip');
  const archive = zipOf({ a: Buffer.from('x') }, true);
  for (const offset of [22, archive.indexOf('PK\x01\x02') + 24]) archive.writeUInt32LE(2 ** 31, offset);
  await writeFile(path, archive);
  const { code, stdout } = await runCli(['verify', '--max-unpacked', '1', '--roots', ROOT, path]);
  expect(stdout).toContain('too large: more than 1073741824 bytes, which is the limit [contents-too-large]\n');
  expect(code).toBe(8);
});
