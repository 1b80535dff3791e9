/** What becomes of links, modes and places where a result cannot go: the file that a link means is replaced, or nothing is. */

import { link, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { pe } from '../../../../src/formats/pe/index.ts';
import { parseJson, runCli, snapshot, temporaryFolder } from '../../../support/programs/cli.ts';
import { forAll } from '../../../support/set-up.ts';
import { copyInto, makeSignedFiles } from '../../../support/signed-files/signed-files.ts';
import { openBytes } from '../../../unit/formats/support/sign-bytes.ts';

const files = await forAll(makeSignedFiles());

let folder: string;
let path: string;
beforeEach(async () => {
  const made = await temporaryFolder('codesign-places-');
  folder = made.path;
  path = await copyInto(folder, files.exe);
  return () => made[Symbol.asyncDispose]();
});

/** `remove` sends no request, and writes as all commands do. */
const remove = (...args: readonly string[]) => runCli(['remove', ...args, '--json'], { cwd: folder });

async function expectUnsigned(file: string): Promise<void> {
  expect(await (await openBytes(pe, await readFile(file))).signatures()).toEqual([]);
}

/** Nothing is changed or made. */
async function expectRefused(args: readonly string[], code: string, message: RegExp): Promise<void> {
  const before = [await snapshot(folder), await readdir(folder, { recursive: true })];
  const run = await remove(...args);
  const error = parseJson(run).files[0]?.error;
  expect([run.code, error?.code, error?.message]).toEqual([6, code, expect.stringMatching(message)]);
  expect([await snapshot(folder), await readdir(folder, { recursive: true })]).toEqual(before);
}

describe('a symbolic link', () => {
  it('is followed through any number of links, which all stay links', async () => {
    await mkdir(join(folder, 'deep'));
    await symlink('../app.exe', join(folder, 'deep', 'one.exe'));
    await symlink(join(folder, 'deep', 'one.exe'), join(folder, 'two.exe'));
    await symlink('deep', join(folder, 'other'));
    expect((await remove('two.exe')).code).toBe(0);
    await expectUnsigned(path);
    expect((await lstat(path)).isFile()).toBe(true);
    expect(await readlink(join(folder, 'two.exe'))).toBe(join(folder, 'deep', 'one.exe'));
    expect(await readlink(join(folder, 'deep', 'one.exe'))).toBe('../app.exe');
    expect((await readdir(folder)).sort()).toEqual(['app.exe', 'deep', 'other', 'two.exe']);
  });

  it('is followed when it is the output, and when its folder is one', async () => {
    await mkdir(join(folder, 'real'));
    await writeFile(join(folder, 'real', 'old.exe'), 'old');
    await symlink('real', join(folder, 'out'));
    await symlink('real/old.exe', join(folder, 'link.exe'));
    expect([(await remove('app.exe', '-o', 'link.exe')).code, (await remove('app.exe', '-o', 'out/')).code]).toEqual([
      0, 0,
    ]);
    await expectUnsigned(join(folder, 'real', 'old.exe'));
    await expectUnsigned(join(folder, 'real', 'app.exe'));
    expect([await readlink(join(folder, 'link.exe')), await readlink(join(folder, 'out'))]).toEqual([
      'real/old.exe',
      'real',
    ]);
  });

  it('that leads nowhere is rejected as an input', async () => {
    await symlink('missing.exe', join(folder, 'link.exe'));
    await expectRefused(['link.exe'], 'broken-link', /^this is a link whose target does not exist: missing\.exe$/);
  });

  it('that leads nowhere is rejected as an output, and is not replaced by a file', async () => {
    await symlink('missing.exe', join(folder, 'link.exe'));
    await expectRefused(
      ['app.exe', '-o', 'link.exe'],
      'broken-link',
      /link\.exe is a link whose target does not exist/,
    );
    expect(await readlink(join(folder, 'link.exe'))).toBe('missing.exe');
  });

  it('that leads nowhere is rejected as a folder of the output', async () => {
    await symlink('missing', join(folder, 'out'));
    await expectRefused(
      ['app.exe', '-o', 'out/'],
      'broken-link',
      /out is a link whose target does not exist: missing$/,
    );
  });

  it('that leads to itself is rejected, as an input and as an output', async () => {
    await symlink('b.exe', join(folder, 'a.exe'));
    await symlink('a.exe', join(folder, 'b.exe'));
    await expectRefused(['a.exe'], 'link-loop', /form a cycle, so it was not possible to read the file$/);
    await expectRefused(['app.exe', '-o', 'a.exe'], 'link-loop', /not possible to reach a\.exe$/);
  });
});

it('if a file has several hard links, one leads to the new file, and a warning says that the others keep the old content', async () => {
  const other = join(folder, 'other.exe');
  await link(path, other);
  const before = await readFile(path);
  const run = await runCli(['remove', path]);
  expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('2 hard links: only this path gets')]);
  expect(run.stderr).toContain('the others keep the old content');
  await expectUnsigned(path);
  expect((await readFile(other)).equals(before)).toBe(true);
});

describe('a result is rejected, with its own path named,', () => {
  it('below what is a file', async () => {
    await writeFile(join(folder, 'file'), 'x');
    const message = /^the result cannot be written to .*file\/app\.exe: .*\/file is not a folder$/;
    await expectRefused(['app.exe', '-o', 'file/app.exe'], 'output-blocked', message);
    await expectRefused(['app.exe', '-o', 'file/more/app.exe'], 'output-blocked', /\/file is not a folder$/);
  });

  it('where there is a folder', async () => {
    await mkdir(join(folder, 'out', 'app.exe'), { recursive: true });
    const message = /out\/app\.exe cannot be replaced: it is a folder$/;
    await expectRefused(['app.exe', '-o', 'out/'], 'not-replaceable', message);
  });
});
