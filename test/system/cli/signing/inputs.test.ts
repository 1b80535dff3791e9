import { execFileSync } from 'node:child_process';
import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { expandInputs } from '../../../../src/cli/input/inputs.ts';
import { folderForEach } from '../../../support/set-up.ts';

const folder = folderForEach();

const at = (name: string): string => folder.at(name);
async function make(...names: string[]): Promise<void> {
  for (const name of names) {
    await mkdir(join(at(name), '..'), { recursive: true });
    await writeFile(at(name), name);
  }
}
async function expand(
  names: string[],
  { stdin = '', ...options }: { recursive?: boolean; stdin?: string; output?: string; exclude?: string[] } = {},
): Promise<string[]> {
  const inputs = await expandInputs(names, options, { stdin: Readable.from([stdin]) });
  return inputs.map((input) => relative(folder.path, input.path).replaceAll('\\', '/'));
}

describe('expandInputs', () => {
  it('takes a path that exists literally before it is a pattern or a list', async () => {
    await make('app[1].exe', '@scope', 'app1.exe');
    expect(await expand([at('app[1].exe'), at('@scope')])).toEqual(['app[1].exe', '@scope']);
  });

  it('keeps a missing path, so that only this file fails', async () => {
    expect(await expand([at('gone.exe')])).toEqual(['gone.exe']);
  });

  it('expands patterns in a fixed order', async () => {
    await make('b.exe', 'a.exe', 'c.dll', 'sub/d.exe');
    const pattern = folder.path.replaceAll('\\', '/');
    expect(await expand([`${pattern}/*.exe`])).toEqual(['a.exe', 'b.exe']);
    expect(await expand([`${pattern}/**/*.{exe,dll}`])).toEqual(['a.exe', 'b.exe', 'c.dll', 'sub/d.exe']);
  });

  it('rejects a pattern that matches nothing', async () => {
    await expect(expand([`${folder.path}/*.exe`])).rejects.toMatchObject({
      code: 'nothing-matches',
      category: 'usage',
    });
  });

  it('reads lists: one path per line, with both line ends, with a byte order mark, without patterns', async () => {
    await make('a.exe', 'b *.exe');
    await writeFile(at('list.txt'), `\uFEFF${at('a.exe')}\r\n\r\n${at('b *.exe')}\n`);
    expect(await expand([`@${at('list.txt')}`])).toEqual(['a.exe', 'b *.exe']);
    expect(await expand(['-'], { stdin: `${at('b *.exe')}\n${at('a.exe')}` })).toEqual(['b *.exe', 'a.exe']);
  });

  it('skips comments and blank lines of a list, but not of standard input', async () => {
    await make('a.exe', '#b.exe');
    await writeFile(at('list.txt'), `# all programs\n${at('a.exe')}\n  \n#b.exe\n`);
    expect(await expand([`@${at('list.txt')}`])).toEqual(['a.exe']);
    expect(await expand(['-'], { stdin: `${at('#b.exe')}\n\n` })).toEqual(['#b.exe']);
  });

  it('says if a list cannot be read', async () => {
    await expect(expand([`@${at('gone.txt')}`])).rejects.toMatchObject({ code: 'list-unreadable', category: 'usage' });
  });

  it('rejects what find -print0 writes', async () => {
    await writeFile(at('list.txt'), `${at('a.exe')}\0${at('b.exe')}\0`);
    const refused = { code: 'list-unusable', category: 'usage' };
    await expect(expand([`@${at('list.txt')}`])).rejects.toMatchObject(refused);
    await expect(expand(['-'], { stdin: 'a.exe\0b.exe\0' })).rejects.toMatchObject(refused);
  });

  it('accepts .js files only if they are named, not from a folder', async () => {
    await make('dist/app.exe', 'dist/web.js', 'dist/Logon.JS', 'dist/logon.vbs');
    expect(await expand([at('dist')], { recursive: true })).toEqual(['dist/app.exe', 'dist/logon.vbs']);
    expect(await expand([at('dist/web.js')])).toEqual(['dist/web.js']);
  });

  it.each(['ü/für.exe', 'ü/f*r.exe', '*/für.exe', 'ü', '@liste-ü.txt'])(
    'finds names on the disk in another Unicode form, and excludes them: %s',
    async (typed) => {
      const onDisk = 'ü/für.exe'.normalize('NFD');
      await make(onDisk);
      await writeFile(at('liste-ü.txt'.normalize('NFD')), at('ü/für.exe'.normalize('NFC')));
      const name = `${typed.startsWith('@') ? '@' : ''}${at(typed.replace('@', ''))}`.normalize('NFC');
      expect(await expand([name], { recursive: true })).toEqual([onDisk]);
      const without = expand([name], { recursive: true, exclude: ['für.*'.normalize('NFC')] });
      await expect(without).rejects.toMatchObject({ code: 'all-excluded' });
    },
  );

  it('rejects a folder without --recursive, and walks it with', async () => {
    await make('dist/b.exe', 'dist/a/x.dll', 'dist/.codesign-remote-12ab.tmp');
    await expect(expand([at('dist')])).rejects.toMatchObject({ code: 'folder-not-recursive', category: 'usage' });
    expect(await expand([at('dist')], { recursive: true })).toEqual(['dist/a/x.dll', 'dist/b.exe']);
  });

  it('signs a file that is named twice only once, through links too', async () => {
    await make('a.exe', 'b.exe');
    await symlink(at('a.exe'), at('link.exe'));
    expect(await expand([at('b.exe'), at('a.exe'), at('link.exe'), `${folder.path}/*.exe`])).toEqual([
      'b.exe',
      'a.exe',
    ]);
  });

  it('knows which files the user named, in any order', async () => {
    await make('a.exe', 'b.exe', 'list/c.exe', 'dist/d.exe');
    await writeFile(at('list.txt'), at('list/c.exe'));
    const names = [at('*.exe'), at('a.exe'), `@${at('list.txt')}`, at('dist')];
    const inputs = await expandInputs(names, { recursive: true }, { stdin: Readable.from([]) });
    expect(inputs.map(({ path, isFound }) => [relative(folder.path, path), isFound])).toEqual([
      ['a.exe', false],
      ['b.exe', true],
      [join('list', 'c.exe'), true],
      [join('dist', 'd.exe'), true],
    ]);
  });

  it('takes a file with two hard links once, and finds nothing that an earlier run left in the output folder', async () => {
    await make('dist/a.exe', 'dist/signed/a.exe');
    await link(at('dist/a.exe'), at('dist/b.exe'));
    const outputFolder = at('dist/signed');
    expect(await expand([at('dist')], { recursive: true, output: outputFolder })).toEqual(['dist/a.exe']);
  });

  it('excludes files by name, in every folder, however they were named', async () => {
    await make('dist/a.exe', 'dist/b.node', 'dist/vendor/c.exe', 'dist/sub/vendor/d.exe', 'e.node');
    const exclude = ['*.node', 'vendor'];
    expect(await expand([at('dist'), at('e.node')], { recursive: true, exclude })).toEqual(['dist/a.exe']);
    expect(await expand([`${folder.path}/dist/**/*.*`], { exclude })).toEqual(['dist/a.exe']);
    expect(await expand(['-'], { stdin: `${at('dist/b.node')}\n${at('dist/a.exe')}\n`, exclude })).toEqual([
      'dist/a.exe',
    ]);
  });

  it('excludes files by path, from the working folder or from the root', async () => {
    await make('dist/a.exe', 'dist/vendor/a.exe', 'dist/vendor/deep/b.exe', 'other/vendor/c.exe');
    for (const base of [folder.path, relative('', folder.path), `./${relative('', folder.path)}`]) {
      const exclude = [`${base.replaceAll('\\', '/')}/dist/vendor/**`];
      expect(await expand([folder.path], { recursive: true, exclude })).toEqual(['dist/a.exe', 'other/vendor/c.exe']);
    }
  });

  it('says if nothing is left', async () => {
    await make('a.exe');
    const expanding = expand([at('a.exe')], { exclude: ['*.exe'] });
    await expect(expanding).rejects.toMatchObject({ code: 'all-excluded', category: 'usage' });
  });

  describe('a pattern', () => {
    beforeEach(async () => {
      await make('outside/o.exe', 'dist/a.exe', 'dist/deep/b.bin', 'dist/deep/c.exe');
      await symlink('../outside', at('dist/ext'));
    });

    it('does not follow a linked folder, with --recursive too', async () => {
      const all = ['dist/a.exe', 'dist/deep/c.exe'];
      expect(await expand([`${folder.path}/dist/**/*.exe`])).toEqual(all);
      expect(await expand([`${folder.path}/dist/**/*.exe`], { recursive: true })).toEqual(all);
      expect(await expand([`${folder.path}/dist/[de]*`], { recursive: true })).toEqual([
        'dist/deep/b.bin',
        'dist/deep/c.exe',
      ]);
      await expect(expand([`${folder.path}/dist/ex?/*.exe`])).rejects.toMatchObject({ code: 'nothing-matches' });
    });

    it('follows a linked folder that the user typed', async () => {
      expect(await expand([`${folder.path}/dist/ext/*.exe`])).toEqual(['dist/ext/o.exe']);
    });

    it('matches a link to a file below its fixed part, and no link to another file', async () => {
      await symlink('deep/b.bin', at('dist/inside.exe'));
      await symlink('ext/o.exe', at('dist/outside.exe'));
      expect(await expand([`${folder.path}/dist/*.exe`])).toEqual(['dist/a.exe', 'dist/inside.exe']);
    });

    it('leaves out what an earlier run left in the output folder, under each name of the folder', async () => {
      await make('dist/signed/a.exe');
      await symlink('dist/signed', at('signed'));
      for (const outputFolder of [at('dist/signed'), at('signed'), `${folder.path}/dist/ext/../dist/signed/`]) {
        expect(await expand([`${folder.path}/dist/**/*.exe`], { output: outputFolder })).toEqual([
          'dist/a.exe',
          'dist/deep/c.exe',
        ]);
      }
    });

    it('matches what is in the output folder if that is the folder of the pattern', async () => {
      expect(await expand([`${folder.path}/dist/*.exe`], { output: at('dist') })).toEqual(['dist/a.exe']);
      expect(await expand([`${folder.path}/dist/deep/*.exe`], { output: at('dist') })).toEqual(['dist/deep/c.exe']);
    });
  });

  describe('a list', () => {
    const endless = (chunk: string) =>
      Readable.from(
        (function* () {
          for (;;) yield Buffer.from(chunk);
        })(),
      );
    const expandEndless = (chunk: string) => expandInputs(['-'], {}, { stdin: endless(chunk) });

    it('is rejected as soon as it exceeds the size limit', async () => {
      const tooLarge = { code: 'list-too-large', category: 'usage' };
      await expect(expandEndless('x'.repeat(4096))).rejects.toMatchObject(tooLarge);
      await expect(expandEndless('app.exe\n'.repeat(65_536))).rejects.toMatchObject(tooLarge);
      await expect(expandEndless('\0')).rejects.toMatchObject({ code: 'list-unusable' });
    });

    it('is rejected if it is a named pipe, a device or a folder, and nothing waits for it', async () => {
      execFileSync('mkfifo', [at('pipe')]);
      for (const [path, reason] of [
        [at('pipe'), 'pipe'],
        ['/dev/zero', 'device'],
        [folder.path, 'folder'],
      ] as const) {
        await expect(expand([`@${path}`])).rejects.toMatchObject({
          code: 'list-unreadable',
          category: 'usage',
          message: expect.stringContaining(reason),
        });
      }
    });

    it('keeps lines that begin in one chunk and end in another, and every other character', async () => {
      await make('ü\u2028.exe', 'b.exe');
      const bytes = Buffer.from(`${at('ü\u2028.exe')}\r\n${at('b.exe')}`);
      const stdin = Readable.from([...bytes].map((byte) => Buffer.from([byte])));
      const inputs = await expandInputs(['-'], {}, { stdin });
      expect(inputs.map(({ path }) => path)).toEqual([at('ü\u2028.exe'), at('b.exe')]);
    });
  });

  it('does not read standard input twice', async () => {
    await expect(expand(['-', '-'])).rejects.toMatchObject({ code: 'standard-input-twice', category: 'usage' });
  });

  it('rejects a run without work', async () => {
    await expect(expand(['-'], { stdin: '\n' })).rejects.toMatchObject({ code: 'no-files', category: 'usage' });
  });
});
