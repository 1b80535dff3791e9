/** The folder of the journal: where it is, whose, and what keeps it from being used. */

import { execFileSync } from 'node:child_process';
import { chmod, chown, lchown, mkdir, readdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { hasJournal } from '../../../src/app/compose-local.ts';
import { stateFolder } from '../../../src/bytes/platform-folders.ts';
import { readJournal } from '../../../src/journal/open-journal.ts';
import { folderForEach, forAll, forEach } from '../../support/set-up.ts';
import { workerSetting } from './support/processes.ts';
import { askingOf, journalSetting, signAndReport } from './support/setting.ts';

const isRoot = process.getuid?.() === 0;
const hasModes = process.platform !== 'win32';
/** A user that is neither this one nor root. */
const OTHER_USER = 65_534;

const setting = forEach(journalSetting);
const outside = folderForEach();

/** By a run, and by who only reads. */
const bothWays: readonly ((folder: string) => Promise<unknown>)[] = [
  (folder) => setting.open({ folder }),
  (folder) => readJournal(setting.options({ folder })),
];

describe('the state folder', () => {
  const home = '/home/user';
  test.each([
    ['linux', { CODESIGN_STATE_DIR: '/state', XDG_STATE_HOME: '/xdg' }, '/state'],
    ['linux', { XDG_STATE_HOME: '/xdg' }, '/xdg/codesign-remote'],
    ['linux', { CODESIGN_STATE_DIR: '', XDG_STATE_HOME: 'relative' }, '/home/user/.local/state/codesign-remote'],
    ['linux', {}, '/home/user/.local/state/codesign-remote'],
    ['darwin', { XDG_STATE_HOME: '/xdg' }, '/home/user/Library/Application Support/codesign-remote'],
    ['win32', { LOCALAPPDATA: '/local' }, '/local/codesign-remote'],
    ['win32', {}, '/home/user/AppData/Local/codesign-remote'],
  ] as const)('of %s with %j is %s', (platform, environment, expected) => {
    expect(stateFolder({ platform, environment, home })?.replaceAll('\\', '/')).toBe(expected);
  });

  test.each(['linux', 'darwin', 'win32'] as const)('of %s without a home is never the working folder', (platform) => {
    expect(stateFolder({ platform, environment: {}, home: undefined })).toBeUndefined();
    const named = { CODESIGN_STATE_DIR: '/state' };
    expect(stateFolder({ platform, environment: named, home: undefined })).toBe('/state');
  });
});

test.skipIf(process.platform === 'win32')('is an error for a user without a home folder', async () => {
  vi.stubEnv('HOME', 'relative');
  onTestFinished(() => void vi.unstubAllEnvs());
  const nowhere = expect.objectContaining({ code: 'no-state-folder', category: 'local' });
  await expect(hasJournal({})).rejects.toThrow(nowhere);
});

describe('a folder that can be used', () => {
  test('is created if it is missing, for its owner alone', async () => {
    const folder = outside.at('not', 'there');
    const journal = await setting.open({ folder });
    await signAndReport(journal, askingOf(1));
    expect(journal.warnings).toEqual([]);
    if (!hasModes) return;
    const modeOf = async (name: string): Promise<string> => ((await stat(join(folder, name))).mode & 0o777).toString(8);
    expect([await modeOf('.'), await modeOf('..')]).toEqual(['700', '700']);
    for (const name of ['journal.db', 'journal.db-wal', 'journal.db-shm', 'journal.space']) {
      expect(await modeOf(name), name).toBe('600');
    }
  });

  test.runIf(hasModes)('is reached through a link of this user', async () => {
    const folder = outside.at('link');
    await mkdir(outside.at('target'), { mode: 0o700 });
    await symlink('target', folder);
    await signAndReport(await setting.open({ folder }), askingOf(1));
    expect(await readdir(outside.at('target'))).toContain('journal.db');
  });
});

describe('a folder that cannot be used', () => {
  const unusable = {
    code: 'journal-unusable',
    category: 'local',
    hint: expect.stringMatching(/CODESIGN_STATE_DIR.*--no-journal/),
  };

  async function expectRefused(folder: string, reason: RegExp): Promise<void> {
    const expected = { ...unusable, message: expect.stringMatching(reason) };
    const before = await readdir(folder);
    for (const open of bothWays) await expect(open(folder)).rejects.toMatchObject(expected);
    expect(await readdir(folder)).toEqual(before);
  }

  test.runIf(hasModes).each([0o777, 0o1777, 0o770, 0o702])('may be written by others: mode %o', async (mode) => {
    await chmod(outside.path, mode);
    await expectRefused(outside.path, /may be written by other users .* chmod 700/);
  });

  test.runIf(isRoot)('belongs to another user, for root too', async () => {
    await chown(outside.path, OTHER_USER, OTHER_USER);
    await expectRefused(outside.path, /belongs to another user/);
  });

  test.runIf(isRoot)('is reached through a link of another user, to which one of this user may lead', async () => {
    const [first, second] = [outside.at('first'), outside.at('second')];
    await mkdir(outside.at('target', 'state'), { recursive: true });
    await symlink('target', second);
    await lchown(second, OTHER_USER, OTHER_USER);
    await symlink(join('target', '..', 'second', 'state'), first);
    for (const folder of [first, join(second, 'state')])
      await expectRefused(folder, /second is a link of another user/);
  });

  test.runIf(hasModes)('is reached through links that lead to each other', async () => {
    await symlink('b', outside.at('a'));
    await symlink('a', outside.at('b'));
    await expect(setting.open({ folder: outside.at('a', 'state') })).rejects.toMatchObject(unusable);
  });

  test.each(['calls', 'running'])('holds a journal of an earlier build: %s', async (name) => {
    await mkdir(outside.at(name));
    const expected = { code: 'journal-of-earlier-build', message: expect.stringContaining(name) };
    for (const open of bothWays) await expect(open(outside.path)).rejects.toMatchObject(expected);
    expect(await readdir(outside.path)).toEqual([name]);
  });

  describe('by a user who', async () => {
    const workers = await forAll(workerSetting());
    await chmod(workers.folder, 0o777);

    const signAsUser = (folder: string, works: readonly number[]) => {
      const service = join(workers.folder, 'service');
      return workers.run({ folder, service, works, serviceTime: 200 }, isRoot ? OTHER_USER : undefined);
    };

    test.runIf(hasModes)('may not write to it: nothing is asked', async () => {
      await chmod(outside.path, 0o555);
      expect(await signAsUser(outside.path, [1])).toMatchObject({ failures: ['journal-unusable'] });
    });

    test.runIf(hasModes)('may not change it any more since the run began: the run ends as it began', async () => {
      const [folder, service] = [outside.at('state'), join(workers.folder, 'service')];
      await chmod(outside.path, 0o777);
      const run = signAsUser(folder, [1, 2, 3]);
      await vi.waitFor(async () => expect(await workers.counted(service, 'request')).toHaveLength(3), 20_000);
      await chmod(folder, 0o500);
      expect(await run).toMatchObject({ failures: [], stderr: '' });
      expect(await workers.counted(service, 'report')).toHaveLength(3);
    });

    test.runIf(isRoot)('does not own it, even if it may be written to', async () => {
      await chown(outside.path, OTHER_USER - 1, OTHER_USER - 1);
      await chmod(outside.path, 0o777);
      expect(await signAsUser(outside.path, [1])).toMatchObject({ failures: ['journal-unusable'] });
    });
  });
});

describe.runIf(hasModes)('a folder that others could write to once', () => {
  const unusable = (path: string) =>
    expect.objectContaining({ code: 'journal-unusable', message: expect.stringContaining(path) });
  let victims: string;
  let untouched: unknown;
  /** A link that is followed would change it. */
  const standing = async () => {
    const stats = ['.', 'folder', 'folder/file', 'file'].map((name) => stat(join(victims, name)));
    return (await Promise.all(stats)).map(({ uid, gid, mode, size, ctimeMs }) => [uid, gid, mode, size, ctimeMs]);
  };

  beforeEach(async () => {
    victims = outside.at('victims');
    await mkdir(join(victims, 'folder'), { recursive: true });
    for (const name of ['file', 'folder/file']) await writeFile(join(victims, name), 'mine\n', { mode: 0o644 });
    untouched = await standing();
  });

  const things = {
    'a link to a file': (path: string) => symlink(join(victims, 'file'), path),
    'a link to nothing': (path: string) => symlink(join(victims, 'nothing'), path),
    'a link to what never ends': (path: string) => symlink('/dev/zero', path),
    'a pipe': async (path: string) => void execFileSync('mkfifo', [path]),
  };
  const NAMES = ['journal.db', 'journal.db-wal', 'journal.db-shm', 'journal.space'];
  const placed = Object.keys(things).flatMap((thing) => NAMES.map((name) => [thing, name] as const));
  test.each(placed)('with %s by the name "%s": refused by that name, and not waited for', async (thing, name) => {
    const path = outside.at(name);
    await things[thing as keyof typeof things](path);
    for (const open of bothWays) await expect(open(outside.path)).rejects.toEqual(unusable(path));
    expect(await standing()).toEqual(untouched);
  });

  test.each(NAMES)('with a file "%s" that others may write, or of another user: refused', async (name) => {
    const path = outside.at(name);
    await writeFile(path, '');
    await chmod(path, 0o622);
    await expect(setting.open({ folder: outside.path })).rejects.toEqual(unusable(path));
    if (!isRoot) return;
    await chmod(path, 0o600);
    await chown(path, OTHER_USER, OTHER_USER);
    await expect(setting.open({ folder: outside.path })).rejects.toEqual(unusable(path));
  });

  test.each(['is renamed', 'becomes a link'])('that %s during a run: the run sends no request', async (what) => {
    const folder = outside.at('state');
    const journal = await setting.open({ folder });
    await rename(folder, outside.at('elsewhere'));
    if (what === 'becomes a link') await symlink(join(victims, 'folder'), folder);
    await expect(signAndReport(journal, askingOf(1))).rejects.toMatchObject({ code: 'journal-unusable' });
    expect(await standing()).toEqual(untouched);
  });
});
