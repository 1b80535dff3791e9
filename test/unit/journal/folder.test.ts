/** The folder of the journal: where it is, whose, and what keeps it from being used. */

import { execFileSync } from 'node:child_process';
import { chmod, chown, lchown, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { hasJournal } from '../../../src/app/compose-local.ts';
import { stateFolder } from '../../../src/bytes/platform-folders.ts';
import { workId } from '../../../src/journal/calls/steps.ts';
import { readJournal } from '../../../src/journal/open-journal.ts';
import { type WorkerSetting, workerSetting } from './support/processes.ts';
import { factsOf, historyOf, journalSetting, type Setting, sign, signAndReport, workOf } from './support/setting.ts';

const isRoot = process.getuid?.() === 0;
const hasModes = process.platform !== 'win32';
/** A user that is neither this one nor root. */
const OTHER_USER = 65_534;

let setting: Setting;
let outside: string;
beforeEach(async () => {
  setting = await journalSetting();
  outside = await mkdtemp(join(tmpdir(), 'codesign-state-'));
});
afterEach(async () => {
  await setting[Symbol.asyncDispose]();
  await rm(outside, { recursive: true, force: true });
});

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
  try {
    const nowhere = expect.objectContaining({ code: 'no-state-folder', category: 'local' });
    await expect(hasJournal({})).rejects.toThrow(nowhere);
  } finally {
    vi.unstubAllEnvs();
  }
});

describe('a folder that can be used', () => {
  test('is made where it is missing, for its owner alone', async () => {
    const folder = join(outside, 'not', 'there');
    const journal = await setting.open({ folder });
    const claim = await journal.claim(workOf(1), factsOf('a'));
    await sign(claim);
    await signAndReport(journal, workOf(2), 'b');
    expect(journal.warnings).toEqual([]);
    if (!hasModes) return;
    const modeOf = async (name: string): Promise<string> => ((await stat(join(folder, name))).mode & 0o777).toString(8);
    for (const name of ['.', 'calls', 'aside', 'history', 'finished', 'proven', 'running']) {
      expect(await modeOf(name), name).toBe('700');
    }
    expect(await modeOf('history/2026-11.jsonl')).toBe('600');
    expect(await modeOf(`calls/${workId(workOf(1))}.jsonl`)).toBe('600');
  });

  test.runIf(hasModes)('is reached through a link of this user', async () => {
    const folder = join(outside, 'link');
    await mkdir(join(outside, 'target'), { mode: 0o700 });
    await symlink('target', folder);
    await signAndReport(await setting.open({ folder }), workOf(1), 'a');
    expect(await readdir(join(outside, 'target', 'history'))).toEqual(['2026-11.jsonl']);
  });

  test('forgets within two hours what others may share, and nothing else', async () => {
    const journal = await setting.open();
    await signAndReport(journal, workOf(1), 'a');
    await journal.ended();
    const shared = async () => (await setting.files()).filter((file) => file.startsWith('finished/'));
    setting.clock.wall = 59 * 60_000;
    await setting.open();
    expect(await shared()).toHaveLength(1);
    setting.clock.wall = 120 * 60_000;
    expect(await historyOf(await setting.open())).toHaveLength(1);
    expect(await shared()).toEqual([]);
  });
});

describe('a folder that cannot be used', () => {
  const unusable = {
    code: 'journal-unusable',
    category: 'local',
    hint: expect.stringMatching(/CODESIGN_STATE_DIR.*--no-journal/),
  };

  test('is a file, or below one', async () => {
    const file = join(outside, 'file');
    await writeFile(file, '');
    await expect(setting.open({ folder: file })).rejects.toMatchObject(unusable);
    await expect(setting.open({ folder: join(file, 'below') })).rejects.toMatchObject(unusable);
  });

  /** Neither by a run nor by who only reads. */
  async function expectRefused(folder: string, reason: RegExp): Promise<void> {
    const expected = { ...unusable, message: expect.stringMatching(reason) };
    const before = await readdir(folder);
    await expect(setting.open({ folder })).rejects.toMatchObject(expected);
    const reading = readJournal(setting.options({ folder }));
    await expect(reading.unfinished()).rejects.toMatchObject(expected);
    await expect(historyOf(reading)).rejects.toMatchObject(expected);
    expect(await readdir(folder)).toEqual(before);
  }

  test.runIf(hasModes).each([0o777, 0o1777, 0o770, 0o702])('may be written by others: mode %o', async (mode) => {
    await chmod(outside, mode);
    await expectRefused(outside, /may be written by other users .* chmod 700/);
  });

  test.runIf(isRoot)('belongs to another user, for root too', async () => {
    await chown(outside, OTHER_USER, OTHER_USER);
    await expectRefused(outside, /belongs to another user/);
  });

  test.runIf(isRoot)('is reached through a link of another user', async () => {
    const link = join(outside, 'link');
    await mkdir(join(outside, 'target', 'state'), { recursive: true });
    await symlink('target', link);
    await lchown(link, OTHER_USER, OTHER_USER);
    await expectRefused(join(link, 'state'), /link is a link of another user/);
  });

  test.runIf(isRoot)('is reached through a link of this user that leads through one of another user', async () => {
    const [first, second] = [join(outside, 'first'), join(outside, 'second')];
    await mkdir(join(outside, 'target', 'state'), { recursive: true });
    await symlink('target', second);
    await lchown(second, OTHER_USER, OTHER_USER);
    await symlink(join('target', '..', 'second', 'state'), first);
    await expectRefused(first, /second is a link of another user/);
  });

  test.runIf(hasModes)('is reached through links that lead to each other', async () => {
    await symlink('b', join(outside, 'a'));
    await symlink('a', join(outside, 'b'));
    await expect(setting.open({ folder: join(outside, 'a', 'state') })).rejects.toMatchObject(unusable);
  });

  test('holds something else by a name of the journal', async () => {
    await writeFile(join(outside, 'calls'), '');
    await expect(setting.open({ folder: outside })).rejects.toMatchObject(unusable);
  });

  describe('by a user who', () => {
    let workers: WorkerSetting;
    beforeAll(async () => {
      workers = await workerSetting();
      await chmod(workers.folder, 0o755);
    });
    afterAll(() => workers[Symbol.asyncDispose]());

    const openAsUser = (folder: string) =>
      workers.run(
        { folder, service: join(outside, 'service'), works: [1], serviceTime: 0 },
        isRoot ? OTHER_USER : undefined,
      );

    test.runIf(hasModes)('may not write to it: nothing is asked', async () => {
      await chmod(outside, 0o555);
      expect(await openAsUser(outside)).toMatchObject({ failures: ['journal-unusable'] });
      await chmod(outside, 0o755);
      await mkdir(join(outside, 'calls'));
      await chmod(join(outside, 'calls'), 0o555);
      expect(await openAsUser(outside)).toMatchObject({ failures: ['journal-unusable'] });
    });

    test.runIf(isRoot)('does not own it, even if it may be written to', async () => {
      await chown(outside, OTHER_USER - 1, OTHER_USER - 1);
      await chmod(outside, 0o777);
      expect(await openAsUser(outside)).toMatchObject({ failures: ['journal-unusable'] });
    });
  });
});

describe.runIf(hasModes)('a folder that others could write to once', () => {
  const unusable = (path: string) =>
    expect.objectContaining({ code: 'journal-unusable', message: expect.stringContaining(path) });
  let victims: string;
  let untouched: unknown;
  /** Of all files below `victims`: what a link that is followed would change. */
  const standing = async () =>
    await Promise.all(
      ['folder', 'folder/file', 'file'].map(async (name) => {
        const path = join(victims, name);
        const { uid, gid, mode, size, mtimeMs, ctimeMs } = await stat(path);
        return { names: name === 'folder' ? await readdir(path) : [], uid, gid, mode, size, mtimeMs, ctimeMs };
      }),
    );

  beforeEach(async () => {
    victims = join(outside, 'victims');
    await mkdir(join(victims, 'folder'), { recursive: true });
    for (const name of ['file', 'folder/file']) await writeFile(join(victims, name), 'mine\n', { mode: 0o644 });
    untouched = await standing();
  });

  test.each(['calls', 'aside', 'history', 'finished', 'proven', 'running'])(
    'with a link by the name "%s": nothing is made, read or changed behind it',
    async (name) => {
      await symlink(join(victims, 'folder'), join(setting.folder, name));
      await expect(setting.open()).rejects.toEqual(unusable(join(setting.folder, name)));
      expect(await standing()).toEqual(untouched);
    },
  );

  const WORK = workOf(1);
  const call = `calls/${workId(WORK)}.jsonl`;
  const things = {
    'a link to a file': (path: string) => symlink(join(victims, 'file'), path),
    'a link to nothing': (path: string) => symlink(join(victims, 'nothing'), path),
    'a link to what never ends': (path: string) => symlink('/dev/zero', path),
    'a pipe': async (path: string) => void execFileSync('mkfifo', [path]),
  };
  const placed = Object.keys(things).flatMap((thing) =>
    [call, 'history/2026-11.jsonl', 'finished/2026-11-20T12'].map((place) => [thing, place] as const),
  );
  test.each(placed)('with %s by the name "%s": rejected by that name, and not waited for', async (thing, place) => {
    const journal = await setting.open();
    const path = join(setting.folder, place);
    await things[thing as keyof typeof things](path);
    const run = async (): Promise<void> => {
      await signAndReport(journal, WORK, 'a');
    };
    await expect(run()).rejects.toEqual(unusable(path));
    expect(await standing()).toEqual(untouched);
    expect(await readdir(victims)).toEqual(['file', 'folder']);
    // Who only reads gets everything else.
    const reading = readJournal(setting.options());
    await historyOf(reading);
    const reported = [...reading.warnings, ...reading.unreadable.values()].join();
    if (!place.startsWith('finished')) expect(reported).toContain(`${path} is a link or not a file`);
  });

  test('whose own folder becomes a link while a run is at it: the run fails, and changes nothing there', async () => {
    const journal = await setting.open();
    await rename(join(setting.folder, 'history'), join(outside, 'history'));
    await symlink(join(victims, 'folder'), join(setting.folder, 'history'));
    await expect(signAndReport(journal, WORK, 'a')).rejects.toEqual(unusable(join(setting.folder, 'history')));
    expect(await standing()).toEqual(untouched);
  });

  test('with a proven pair that is a link: not known, and neither followed nor replaced', async () => {
    const pair = { origin: WORK.origin, code: WORK.code, leaf: factsOf('a').certificate.sha256 };
    await signAndReport(await setting.open(), WORK, 'a');
    const [name = ''] = await readdir(join(setting.folder, 'proven'));
    await rm(join(setting.folder, 'proven', name));
    await symlink(join(victims, 'file'), join(setting.folder, 'proven', name));
    const later = await setting.open();
    await expect(later.isProven(pair)).rejects.toEqual(unusable(name));
    await signAndReport(later, workOf(2), 'b');
    expect(await standing()).toEqual(untouched);
  });
});

test('opening does not read the history, and asking does not either', async () => {
  const journal = await setting.open();
  await signAndReport(journal, workOf(1), 'a');
  const history = join(setting.folder, 'history', '2026-11.jsonl');
  // A folder in its place cannot be read.
  await rm(history);
  await mkdir(history);
  const again = await setting.open();
  const claim = await again.claim(workOf(2), factsOf('b'));
  await claim.requested();
  await claim.signed({ signature: new Uint8Array(512), record: 'r' });
  expect(await claim.written('b')).toMatchObject({ reportDue: true });
  expect(again.warnings).toEqual([
    expect.stringMatching(/^the history of 2026-11 cannot be read.*\[history-unreadable\]$/),
  ]);
});
