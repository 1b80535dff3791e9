/** The file of profiles: what goes in comes out, what cannot be right is rejected, and no other caller reads it. */

import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { openProfiles, type Profiles } from '../../../src/options/stored/profiles.ts';
import { folderForAll } from '../../support/set-up.ts';

const root = folderForAll();

let folders = 0;
function newFolder(): string {
  folders += 1;
  return join(root, `Ünï côde ${folders}`, 'below');
}

const open = (folder: string): Promise<Profiles> => openProfiles({ CODESIGN_CONFIG_DIR: folder });

async function withFile(content: string, mode = 0o600): Promise<string> {
  const folder = newFolder();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'config.json'), content);
  await chmod(join(folder, 'config.json'), mode);
  return folder;
}

describe('a profile', () => {
  // More settings: sessions/recorded/cases/config.txt.
  it('is stored, and read again', async () => {
    const folder = newFolder();
    const profiles = await open(folder);
    expect(profiles.path).toBe(join(folder, 'config.json'));
    expect(profiles.names()).toEqual([]);
    await profiles.set('work', 'require-timestamp', ['yes']);
    await profiles.set('work', 'extra', ['hostname=a=b', 'platform=', 'signing_filesize=12']);
    await profiles.set('work', 'environments.my.own', ['https://other.example']);
    await profiles.set('work', 'environment', ['my.own']);

    for (const read of [profiles, await open(folder)]) {
      expect(read.names()).toEqual(['work']);
      const { environment, environments, values } = read.read('work');
      expect([environment, ...environments]).toEqual(['my.own', ['my.own', 'https://other.example']]);
      const extra = ['hostname=a=b', 'platform=', 'signing_filesize=12'];
      expect(Object.fromEntries(values)).toEqual({ requireTimestamp: ['true'], extra });
    }
  });

  it('holds the replaced members of `extra` as an object', async () => {
    const folder = await withFile('{"profiles":{"work":{"extra":{"hostname":"","signing_filesize":12}}}}');
    expect((await open(folder)).read('work').values.get('extra')).toEqual(['hostname=', 'signing_filesize=12']);
    await (await open(folder)).set('work', 'extra', ['version=1=2']);
    const stored = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'));
    expect(stored).toEqual({ profiles: { work: { extra: { version: '1=2' } } } });
  });

  it('keeps what another process has written during that time', async () => {
    const folder = newFolder();
    const [one, other] = [await open(folder), await open(folder)];
    await one.set('default', 'code', ['1']);
    await other.set('default', 'timeout', ['5']);
    expect(Object.fromEntries(other.read('default').values)).toEqual({ code: ['1'], timeout: ['5'] });
  });

  it('takes all of several changes, or none', async () => {
    const profiles = await open(newFolder());
    await profiles.set('default', 'timestampUrl', ['http://t.example']);
    const setAll = (values: object) => profiles.setAll('default', new Map(Object.entries(values)));
    await expect(setAll({ code: ['1'], concurrency: ['none'] })).rejects.toMatchObject({ code: 'invalid-setting' });
    expect(profiles.read('default').values.has('code')).toBe(false);
    await setAll({ code: ['1'], timestampUrl: [] });
    expect(profiles.read('default').values).toEqual(new Map([['code', ['1']]]));
  });
});

describe('the file', () => {
  it.skipIf(process.platform === 'win32')('is for its owner only, and no other is left next to it', async () => {
    const made = newFolder();
    for (const folder of [made, await withFile('{}', 0o644)]) {
      await (await open(folder)).set('default', 'code', ['1']);
      expect((await stat(join(folder, 'config.json'))).mode & 0o777).toBe(0o600);
      expect(await readdir(folder)).toEqual(['config.json']);
    }
    expect((await stat(made)).mode & 0o777).toBe(0o700);
  });

  it('may begin with a byte order mark, as editors of Windows leave it', async () => {
    const folder = await withFile('\uFEFF{"profiles":{"default":{"code":12345}}}');
    const profiles = await open(folder);
    expect(profiles.read('default').values).toEqual(new Map([['code', ['12345']]]));
    await profiles.set('default', 'timeout', ['9']);
    expect(await readFile(profiles.path, 'utf8')).toMatch(/"code": 12345,\s+"timeout": 9/);
  });

  it('contains paths relative to itself', async () => {
    const folder = await withFile('{"profiles":{"default":{"certificate":["c.pem","/d.pem"],"caFile":"ca.pem"}}}');
    const { values } = (await open(folder)).read('default');
    expect(values.get('certificate')).toEqual([join(folder, 'c.pem'), '/d.pem']);
    expect(values.get('caFile')).toEqual([join(folder, 'ca.pem')]);
  });

  const work = (members: string): string => `{"profiles": {"work": {${members}}}}`;

  test.each([
    ['settings-file-damaged', '', /config\.json is empty/],
    ['settings-file-damaged', '{"profiles": []}', /"profiles" is not an object/],
    ['settings-file-damaged', '{"profiles": {"a b": {}}}', /"a b"/],
    ['settings-file-damaged', work('"timeout": "5"'), /"profiles\.work\.timeout" is not a number/],
    ['settings-file-damaged', work('"code": -1'), /"profiles\.work\.code"/],
    ['settings-file-damaged', work('"environment": 1'), /"profiles\.work\.environment"/],
    ['settings-file-damaged', work('"environments": 1'), /"profiles\.work\.environments"/],
    ['settings-file-damaged', work('"environments": {"a": 1}'), /"profiles\.work\.environments\.a"/],
    ['settings-file-damaged', work('"environments": {"a/b": "x"}'), /environments\.a\/b/],
    ['settings-file-damaged', work('"extra": ["hostname="]'), /"profiles\.work\.extra"/],
    ['settings-file-damaged', work('"extra": {"signing_filesize": 1.5}'), /"profiles\.work\.extra"/],
    ['setting-unknown', '{"profile": {}}', /config\.json has no setting "profile"/],
    ['setting-unknown', work('"__proto__": {}'), /"__proto__"/],
    ['setting-is-secret', work('"accessSecret": "s3cret"'), /"accessSecret"/],
  ])('%s: %s', async (code, content, message) => {
    const error = await open(await withFile(content)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, category: 'usage', message: expect.stringMatching(message) });
    expect(String(error)).not.toContain('s3cret');
  });

  it('is rejected when it is a folder, or larger than settings are', async () => {
    const folder = newFolder();
    await mkdir(join(folder, 'config.json'), { recursive: true });
    await expect(open(folder)).rejects.toMatchObject({ code: 'settings-file-unreadable' });
    const large = await withFile(`{"profiles": {}${' '.repeat(300_000)}}`);
    await expect(open(large)).rejects.toMatchObject({ code: 'settings-file-unreadable' });
  });

  it('that cannot be written is named', async () => {
    const folder = await withFile('{}');
    const change = (await open(join(folder, 'config.json', 'below'))).set('default', 'code', ['1']);
    await expect(change).rejects.toMatchObject({ code: 'settings-file-unwritable', category: 'local' });
  });
});

describe.skipIf(process.platform === 'win32')('an owner other than this user', () => {
  it('is trusted only if its owner alone may write it: a file that every user may write is rejected', async () => {
    await expect(open(await withFile('{}', 0o602))).rejects.toMatchObject({ code: 'settings-file-exposed' });
    expect((await open(await withFile('{}', 0o664))).names()).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)('may be a user whom root works for', async () => {
    const folder = await withFile('{"profiles":{"theirs":{}}}');
    await chown(join(folder, 'config.json'), 12_345, 12_345);
    expect((await open(folder)).names()).toEqual(['theirs']);
  });

  it.skipIf(process.getuid?.() !== 0)('is not root in the folder of another user', async () => {
    const folder = await withFile('{}');
    await chown(folder, 12_345, 12_345);
    const change = (await open(folder)).set('default', 'code', ['1']);
    const reason = expect.stringContaining('its folder belongs to another user');
    await expect(change).rejects.toMatchObject({ code: 'settings-file-unwritable', message: reason });
    expect(await readdir(folder)).toEqual(['config.json']);
  });

  it('cannot change a file in a folder that every user may write', async () => {
    const folder = await withFile('{}');
    await chmod(folder, 0o1777);
    const change = (await open(folder)).set('default', 'code', ['1']);
    const reason = expect.stringContaining('every user may write to its folder');
    await expect(change).rejects.toMatchObject({ code: 'settings-file-unwritable', message: reason });
  });

  it('is not waited for if the file is a pipe', async () => {
    const folder = await withFile('{}');
    await rm(join(folder, 'config.json'));
    execFileSync('mkfifo', [join(folder, 'config.json')]);
    await expect(open(folder)).rejects.toMatchObject({ code: 'settings-file-unreadable' });
  });
});

test.each([
  ['setting-unknown', 'default', '', ['x']],
  ['setting-unknown', 'default', '__proto__', ['x']],
  ['invalid-setting', 'default', 'algorithm', ['SHA256', 'SHA384']],
  ['invalid-setting', 'default', 'timestampUrl', ['http://t.example', 'ftp://t.example']],
  ['invalid-setting', 'default', 'extra', ['hostname=a', 'hostnam=s3cret']],
  ['timestamp-url-holds-credentials', 'default', 'timestampUrl', ['http://u:s3cret@t.example']],
  ['base-url-holds-credentials', 'default', 'baseUrl', ['https://u:s3cret@sign.example']],
  ['profile-name-invalid', 'default', 'environments.', ['https://sign.example']],
  ['profile-name-invalid', 'default', 'environment', ['ä']],
  ['profile-name-invalid', '', 'code', ['1']],
  ['profile-name-invalid', 'x'.repeat(65), 'code', ['1']],
])('rejects %s: %s %s %j', async (code, name, key, values) => {
  const folder = newFolder();
  const profiles = await open(folder);
  const error = await profiles.set(name, key, values).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code, category: 'usage' });
  expect(String(error)).not.toContain('s3cret');
  await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' });
});
