import { chmod, mkdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keepCompiledCode } from '../../../src/cli/prepare-process.ts';
import { temporaryFolder } from '../../support/programs/cli.ts';

/** The folders that Node.js should use. */
async function enabled(environment: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const folders: string[] = [];
  await keepCompiledCode(environment, (folder) => folders.push(folder));
  return folders;
}

it('creates a private folder below the cache folder of the user', async () => {
  await using caches = await temporaryFolder();
  const folder = join(caches.path, 'new', 'codesign-remote', 'compiled');
  expect(await enabled({ XDG_CACHE_HOME: join(caches.path, 'new') })).toEqual([folder]);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

it.each(['NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE'])('leaves the choice to %s', async (name) => {
  await using caches = await temporaryFolder();
  expect(await enabled({ XDG_CACHE_HOME: caches.path, [name]: '1' })).toEqual([]);
});

it.each(['relative', '/proc/codesign-remote-test', '/dev/null/below'])('works without a folder at %s', async (path) => {
  expect(await enabled({ XDG_CACHE_HOME: path })).toEqual([]);
});

it('uses no folder that others may write to, and no link', async () => {
  await using caches = await temporaryFolder();
  const folder = join(caches.path, 'codesign-remote', 'compiled');
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o777);
  expect(await enabled({ XDG_CACHE_HOME: caches.path })).toEqual([]);
  await using others = await temporaryFolder();
  await mkdir(join(others.path, 'codesign-remote'));
  await symlink(caches.path, join(others.path, 'codesign-remote', 'compiled'));
  expect(await enabled({ XDG_CACHE_HOME: others.path })).toEqual([]);
});

it.skipIf(process.getuid?.() !== 0)('does without a folder of another user', async () => {
  await using caches = await temporaryFolder();
  const { chown } = await import('node:fs/promises');
  await chown(caches.path, 12345, 12345);
  expect(await enabled({ XDG_CACHE_HOME: caches.path })).toEqual([]);
});
