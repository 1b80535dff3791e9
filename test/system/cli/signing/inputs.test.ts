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

const expectRejected = async (expanding: Promise<unknown>, code: string): Promise<void> =>
  await expect(expanding).rejects.toMatchObject({ code, category: 'usage' });

describe('expandInputs', () => {
  it('takes a path that exists literally before it is a pattern or a list', async () => {
    await make('app[1].exe', '@scope', 'app1.exe');
    expect(await expand([at('app[1].exe'), at('@scope')])).toEqual(['app[1].exe', '@scope']);
  });

  it('expands patterns in a fixed order', async () => {
    await make('b.exe', 'a.exe', 'c.dll', 'sub/d.exe');
    const pattern = folder.path.replaceAll('\\', '/');
    expect(await expand([`${pattern}/*.exe`])).toEqual(['a.exe', 'b.exe']);
    expect(await expand([`${pattern}/**/*.{exe,dll}`])).toEqual(['a.exe', 'b.exe', 'c.dll', 'sub/d.exe']);
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

  it('rejects what find -print0 writes', async () => {
    await writeFile(at('list.txt'), `${at('a.exe')}\0${at('b.exe')}\0`);
    await expectRejected(expand([`@${at('list.txt')}`]), 'list-unusable');
    await expectRejected(expand(['-'], { stdin: 'a.exe\0b.exe\0' }), 'list-unusable');
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
      await expectRejected(without, 'all-excluded');
    },
  );

  it('rejects a folder without --recursive, and walks it with', async () => {
    await make('dist/b.exe', 'dist/a/x.dll', 'dist/.codesign-remote-12ab.tmp');
    await expectRejected(expand([at('dist')]), 'folder-not-recursive');
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
      await expectRejected(expand([`${folder.path}/dist/ex?/*.exe`]), 'nothing-matches');
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
      await expectRejected(expandEndless('x'.repeat(4096)), 'list-too-large');
      await expectRejected(expandEndless('app.exe\n'.repeat(65_536)), 'list-too-large');
      await expectRejected(expandEndless('\0'), 'list-unusable');
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

  it.each<[string, string, readonly string[], Parameters<typeof expand>[1]?]>([
    ['list-unreadable', 'a list that is not there', ['@/gone.txt']],
    ['all-excluded', 'a run of which nothing is left', ['/a'], { exclude: ['a'] }],
    ['standard-input-twice', 'standard input that is named twice', ['-', '-']],
  ])('rejects with %s: %s', async (code, _what, names, options) => {
    await make('a');
    await expectRejected(
      expand(
        names.map((name) => name.replace('/', `${folder.path}/`)),
        options,
      ),
      code,
    );
  });
});
