/** The compiled code that one run keeps for the next: used only as long as it is of this program and nobody else could have written it. */

import {
  chmod,
  chown,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CliRun, REPOSITORY, runCli } from '../support/cli.ts';

const UNSIGNED = join(REPOSITORY, 'fixtures', 'pe', 'hello.exe');

let folder: string;
let caches: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-code-cache-'));
  caches = join(folder, 'caches');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function verify(env: Record<string, string> = {}, program?: string): Promise<CliRun> {
  return runCli(['verify', UNSIGNED], { env: { XDG_CACHE_HOME: caches, ...env }, ...(program && { program }) });
}

/** The only file there is. */
async function keptFile(): Promise<string> {
  const names = await readdir(join(caches, 'codesign-remote', 'code'));
  expect(names).toHaveLength(1);
  return join(caches, 'codesign-remote', 'code', names[0] ?? '');
}

async function copyProgram(name: string): Promise<string> {
  for (const part of ['bin', 'dist', 'package.json']) {
    await cp(join(REPOSITORY, part), join(folder, name, part), { recursive: true });
  }
  return join(folder, name, 'bin', 'codesign-remote.js');
}

/** Which file it is: a new one is renamed to its place. */
async function identityOf(path: string): Promise<bigint> {
  return (await stat(path, { bigint: true })).ino;
}

describe('compiled code', () => {
  test('is kept by the first run for its user alone, and taken by the next as it is', async () => {
    const first = await verify();
    expect(first).toMatchObject({ code: 8, stdout: expect.stringContaining('holds no signature') });
    const file = await keptFile();
    expect(file).toMatch(/verify-[0-9a-f]{16}\.bin$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700);
    const identity = await identityOf(file);
    expect(await verify()).toEqual(first);
    expect(await identityOf(await keptFile())).toBe(identity);
  });

  test.each([
    ['a byte is another', (bytes: Buffer) => bytes.fill(bytes[5000] === 0 ? 1 : 0, 5000, 5001)],
    ['it is cut off', (bytes: Buffer) => bytes.subarray(0, 5000)],
    ['it is empty', () => Buffer.alloc(0)],
    ['it is of another kind', () => Buffer.from('something else')],
  ])('is made anew where %s', async (_what, change) => {
    const first = await verify();
    const file = await keptFile();
    const whole = (await readFile(file)).length;
    await writeFile(file, change(await readFile(file)));
    expect(await verify()).toEqual(first);
    expect((await readFile(await keptFile())).length).toBeGreaterThan(whole / 2);
    const identity = await identityOf(file);
    expect(await verify()).toEqual(first);
    expect(await identityOf(file)).toBe(identity);
  });

  test.skipIf(process.platform === 'win32')('that others could have written is not taken', async () => {
    await verify();
    const file = await keptFile();
    await chmod(file, 0o622);
    const identity = await identityOf(file);
    await verify();
    expect(await identityOf(file)).not.toBe(identity);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test.skipIf(process.platform === 'win32')('is not kept where others may write', async () => {
    await verify();
    const file = await keptFile();
    await rm(file);
    await chmod(join(file, '..'), 0o777);
    expect(await verify()).toMatchObject({ code: 8 });
    expect(await readdir(join(file, '..'))).toEqual([]);
  });

  test('is of this very program: a file of the same length with another text is compiled', async () => {
    const program = await copyProgram('program');
    expect((await verify({}, program)).stdout).toContain('holds no signature');
    let changed = 0;
    for (const name of await readdir(join(folder, 'program', 'dist'))) {
      if (!name.endsWith('.cjs')) continue;
      const path = join(folder, 'program', 'dist', name);
      const text = await readFile(path, 'utf8');
      if (!text.includes('holds no signature')) continue;
      await writeFile(path, text.replaceAll('holds no signature', 'HOLDS no signature'));
      changed += 1;
    }
    expect(changed).toBeGreaterThan(0);
    expect((await verify({}, program)).stdout).toContain('HOLDS no signature');
  });

  test('is of this installation and of this very Node alone', async () => {
    await verify();
    await verify({}, await copyProgram('another'));
    const node = join(folder, 'node');
    await copyFile(process.execPath, node);
    expect(await runCli(['verify', UNSIGNED], { node, env: { XDG_CACHE_HOME: caches } })).toMatchObject({ code: 8 });
    const kept = join(caches, 'codesign-remote', 'code');
    const sizes = await Promise.all((await readdir(kept)).map(async (name) => (await stat(join(kept, name))).size));
    expect(sizes).toHaveLength(3);
    expect(Math.max(...sizes)).toBeLessThan(1.5 * Math.min(...sizes));
  });

  test('of files that are gone is not kept any longer', async () => {
    const program = await copyProgram('program');
    await verify({}, program);
    const file = await keptFile();
    const before = await readFile(file, 'latin1');
    const gone = join(folder, 'program', 'dist', 'chunk-GONEGONE.cjs');
    const [first = ''] =
      /chunk-[A-Z0-9]{8}\.cjs/.exec(await readFile(join(folder, 'program', 'dist', 'cli.cjs'), 'utf8')) ?? [];
    const dist = join(folder, 'program', 'dist');
    expect(before).toContain(first);
    await rename(join(dist, first), gone);
    for (const name of await readdir(dist)) {
      if (!name.endsWith('.cjs')) continue;
      const text = await readFile(join(dist, name), 'utf8');
      await writeFile(join(dist, name), text.replaceAll(`./${first}`, './chunk-GONEGONE.cjs'));
    }
    expect(await verify({}, program)).toMatchObject({ code: 8 });
    const after = await readFile(file, 'latin1');
    expect(after).toContain('chunk-GONEGONE.cjs');
    expect(after.slice(0, after.indexOf('\n'))).not.toContain(first);
  });

  test.each([{ XDG_CACHE_HOME: 'relative' }, { XDG_CACHE_HOME: '', HOME: '' }])(
    'is neither kept nor looked for in the working folder: %o',
    async (env) => {
      const cwd = join(folder, 'cloned');
      await mkdir(cwd);
      expect(await runCli(['verify', UNSIGNED], { env: { ...env, LOCALAPPDATA: '' }, cwd })).toMatchObject({ code: 8 });
      expect(await readdir(cwd)).toEqual([]);
    },
  );

  test.skipIf(process.platform === 'win32')('a folder that is a link is left alone, and what it leads to', async () => {
    const elsewhere = join(folder, 'elsewhere');
    await mkdir(elsewhere);
    const month = (Date.now() - 31 * 24 * 60 * 60 * 1000) / 1000;
    const names = ['firmware.bin', 'sign-0123456789abcdef.bin'];
    for (const name of names) {
      await writeFile(join(elsewhere, name), 'mine');
      await utimes(join(elsewhere, name), month, month);
    }
    await mkdir(join(caches, 'codesign-remote'), { recursive: true });
    await symlink(elsewhere, join(caches, 'codesign-remote', 'code'));
    expect(await verify()).toMatchObject({ code: 8 });
    expect(await readdir(elsewhere)).toEqual(names);
  });

  test.skipIf(process.getuid?.() !== 0)('is not kept in the home of another user (as root)', async () => {
    const home = join(folder, 'home');
    await mkdir(home);
    await chown(home, 12345, 12345);
    const run = await runCli(['verify', UNSIGNED], { env: { HOME: home, XDG_CACHE_HOME: '' } });
    expect(run).toMatchObject({ code: 8 });
    expect(await readdir(home)).toEqual([]);
  });

  test('is not kept for words that are no commands', async () => {
    for (const args of [['sing', 'app.exe'], [], ['../../verify']]) {
      expect(await runCli(args, { env: { XDG_CACHE_HOME: caches } })).toMatchObject({ code: 2 });
    }
    expect(await readdir(folder)).toEqual([]);
  });

  test('is not kept when Node is told to keep none, nor of help and version', async () => {
    await verify({ NODE_DISABLE_COMPILE_CACHE: '1' });
    for (const args of [['--version'], ['--help'], ['sign', '--help']]) {
      expect(await runCli(args, { env: { XDG_CACHE_HOME: caches } })).toMatchObject({ code: 0 });
    }
    expect(await readdir(folder)).toEqual([]);
  });

  test('that cannot be kept is no reason for a word', async () => {
    const first = await verify();
    await rm(caches, { recursive: true });
    await writeFile(caches, 'a file where the folder would be');
    expect(await verify()).toEqual(first);
    expect(await verify({ XDG_CACHE_HOME: '/dev/null/nowhere' })).toEqual(first);
  });

  test('of versions that are not used any more goes after a month', async () => {
    await verify();
    const file = await keptFile();
    const old = join(file, '..', 'sign-0123456789abcdef.bin');
    await writeFile(old, 'of another version of Node');
    const month = (Date.now() - 31 * 24 * 60 * 60 * 1000) / 1000;
    await utimes(old, month, month);
    await rm(file);
    await verify();
    expect(await keptFile()).toBe(file);
  });
});
