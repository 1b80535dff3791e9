/** Credentials in a file: which files are refused, what is written, and that they come before those in the keychain. */

import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readCredentials } from '../../../src/options/credentials/credentials.ts';
import { readFileEntry, removeFileEntry, writeFileEntry } from '../../../src/options/credentials/credentials-file.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { folderForAll } from '../../support/set-up.ts';

const root = folderForAll();
const WORK = { profile: 'work', environment: 'production' };
const ALTERNATE = { ...WORK, environment: 'alternate' };
const CREDENTIALS = { origin: 'https://sign.example', accessKey: 'key', accessSecret: new Secret('s3cret') };

/** In a folder that does not exist yet. */
const newPath = (): string => join(root, randomUUID(), 'credentials.json');
async function written(): Promise<string> {
  const path = newPath();
  await writeFileEntry(path, WORK, CREDENTIALS);
  return path;
}

test('keeps the credentials of each account, until the last one is removed', async () => {
  const path = await written();
  await writeFileEntry(path, ALTERNATE, { ...CREDENTIALS, accessKey: 'other' });
  expect(await readFileEntry(path, WORK)).toMatchObject({ origin: 'https://sign.example', accessKey: 'key' });
  expect((await readFileEntry(path, ALTERNATE))?.accessSecret.reveal()).toBe('s3cret');
  expect(await removeFileEntry(path, WORK)).toBe(true);
  expect(await removeFileEntry(path, WORK)).toBe(false);
  expect(await readFileEntry(path, ALTERNATE)).toMatchObject({ accessKey: 'other' });
  expect(await removeFileEntry(path, ALTERNATE)).toBe(true);
  expect(await readdir(join(path, '..'))).toEqual([]);
});

test('is used without opening the keychain, also for an environment without its own', async () => {
  const file = await written();
  const refuse = () => Promise.reject(new Error('the keychain was opened'));
  const keychain = { read: refuse, write: refuse, remove: refuse };
  const query = { env: {}, origin: CREDENTIALS.origin, keychain, file };
  for (const account of [WORK, ALTERNATE]) {
    const credentials = await readCredentials({ ...query, account });
    expect(credentials).toMatchObject({ accessKey: 'key', source: 'file', origin: CREDENTIALS.origin });
  }
  const elsewhere = readCredentials({ ...query, origin: 'https://other.example', account: WORK });
  await expect(elsewhere).rejects.toMatchObject({ code: 'credentials-other-origin' });
});

test.skipIf(process.platform === 'win32')('is written for its user only, whatever the umask is', async () => {
  const path = newPath();
  const before = process.umask(0);
  try {
    await writeFileEntry(path, WORK, CREDENTIALS);
  } finally {
    process.umask(before);
  }
  expect(((await lstat(path)).mode & 0o777).toString(8)).toBe('600');
  expect(await readdir(join(path, '..'))).toEqual(['credentials.json']);
});

describe.skipIf(process.platform === 'win32')('is refused', () => {
  const link = async (path: string) => {
    await rename(path, `${path}.real`);
    await symlink(`${path}.real`, path);
  };
  test.each<[string, string, (path: string) => Promise<unknown>]>([
    ['if its group can read it', 'credentials-file-exposed', (path) => chmod(path, 0o640)],
    ['if others can write to it', 'credentials-file-exposed', (path) => chmod(path, 0o602)],
    ['if it is a symbolic link', 'credentials-file-exposed', link],
    ['if it is no JSON', 'settings-file-damaged', (path) => writeFile(path, '{"work":"s3cret')],
    ['if an entry is incomplete', 'settings-file-damaged', (path) => writeFile(path, '{"work":{"origin":"s3cret"}}')],
    ['if it is too large', 'settings-file-unreadable', (path) => writeFile(path, ' '.repeat(2 ** 21))],
  ])('%s', async (_name, code, spoil) => {
    const path = await written();
    await spoil(path);
    const before = await readFile(path);
    const acts: ((...entry: Parameters<typeof writeFileEntry>) => Promise<unknown>)[] = [
      ...[readFileEntry, writeFileEntry, removeFileEntry],
    ];
    for (const act of acts) {
      const error = await act(path, WORK, CREDENTIALS).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code, category: 'usage', hint: expect.any(String) });
      expect(inspect(error, { depth: 10 })).not.toContain('s3cret');
    }
    expect(await readFile(path)).toEqual(before);
  });

  test('if it is a folder', async () => {
    const path = newPath();
    await mkdir(path, { recursive: true });
    await expect(readFileEntry(path, WORK)).rejects.toMatchObject({ code: 'credentials-file-exposed' });
  });

  test('if it belongs to another user', async () => {
    const path = await written();
    const user = vi.spyOn(process, 'geteuid').mockReturnValue(12_345);
    onTestFinished(() => user.mockRestore());
    await expect(readFileEntry(path, WORK)).rejects.toMatchObject({
      code: 'credentials-file-exposed',
      message: expect.stringContaining('belongs to another user'),
    });
  });
});
