/** The folder of the journal: where it is, whose, and what keeps it from being used. */

import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stateFolder } from '../../src/journal/state-folder.ts';
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
    expect(stateFolder({ platform, environment, home }).replaceAll('\\', '/')).toBe(expected);
  });

  test.each(['linux', 'darwin', 'win32'] as const)('of %s without a home is never the working folder', (platform) => {
    const nowhere = expect.objectContaining({ code: 'no-state-folder', category: 'local' });
    expect(() => stateFolder({ platform, environment: {}, home: undefined })).toThrow(nowhere);
    const named = { CODESIGN_STATE_DIR: '/state' };
    expect(stateFolder({ platform, environment: named, home: undefined })).toBe('/state');
  });
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
    const file = `calls/${(await import('../../src/journal/work-id.ts')).workId(workOf(1))}.jsonl`;
    expect(await modeOf(file)).toBe('600');
  });

  test.runIf(hasModes)('but that others may write to is told of', async () => {
    await chmod(outside, 0o777);
    const { warnings } = await setting.open({ folder: outside });
    expect(warnings).toMatchObject([expect.stringContaining('chmod 700')]);
  });

  test.runIf(isRoot)('of another user is left to that user, by root too', async () => {
    await chown(outside, OTHER_USER, OTHER_USER);
    const journal = await setting.open({ folder: outside });
    await sign(await journal.claim(workOf(1), factsOf('a')));
    await signAndReport(journal, workOf(2), 'b');
    const names = ['calls', 'history', 'finished', 'history/2026-11.jsonl', 'finished/2026-11-20T12'];
    for (const name of names) expect((await stat(join(outside, name))).uid, name).toBe(OTHER_USER);
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
  await expect(historyOf(again)).rejects.toMatchObject({ code: 'journal-unusable' });
});
