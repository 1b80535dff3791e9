import { chmod, chown, mkdir, stat, symlink } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { keepCompiledCode } from '../../../src/cli/prepare-process.ts';
import { folderForEach } from '../../support/set-up.ts';

const caches = folderForEach();

/** The folders that Node.js should use. */
async function enabled(environment: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const folders: string[] = [];
  await keepCompiledCode(environment, (folder) => folders.push(folder));
  return folders;
}

it('creates a private folder below the cache folder of the user', async () => {
  const folder = caches.at('new', 'codesign-remote', 'compiled');
  expect(await enabled({ XDG_CACHE_HOME: caches.at('new') })).toEqual([folder]);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

it.each(['NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE'])('leaves the choice to %s', async (name) => {
  expect(await enabled({ XDG_CACHE_HOME: caches.path, [name]: '1' })).toEqual([]);
});

it.each(['relative', '/proc/codesign-remote-test', '/dev/null/below'])('works without a folder at %s', async (path) => {
  expect(await enabled({ XDG_CACHE_HOME: path })).toEqual([]);
});

it('uses no folder that others may write to, and no link', async () => {
  const folder = caches.at('codesign-remote', 'compiled');
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o777);
  expect(await enabled({ XDG_CACHE_HOME: caches.path })).toEqual([]);
  await mkdir(caches.at('others', 'codesign-remote'), { recursive: true });
  await symlink(caches.path, caches.at('others', 'codesign-remote', 'compiled'));
  expect(await enabled({ XDG_CACHE_HOME: caches.at('others') })).toEqual([]);
});

it.skipIf(process.getuid?.() !== 0)('does without a folder of another user', async () => {
  await chown(caches.path, 12345, 12345);
  expect(await enabled({ XDG_CACHE_HOME: caches.path })).toEqual([]);
});
