/** `codesign-remote verify --inside` as a user runs it, with archives that continue in others, or unpack to too much. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cabSet } from '../../../support/containers/make-cab.ts';
import { zipOf } from '../../../support/containers/make-zip.ts';
import { REPOSITORY, runCli } from '../../../support/programs/cli.ts';
import { folderForAll } from '../../../support/set-up.ts';

const GOLDEN = join(REPOSITORY, 'fixtures', 'golden');
const ROOT = join(GOLDEN, 'root.pem');
const UNSIGNED = join(REPOSITORY, 'fixtures', 'pe', 'hello.exe');
const folder = folderForAll();

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
