import * as fs from 'node:fs';
import { expect, test, vi } from 'vitest';
import { readJournal } from '../../../src/journal/open-journal.ts';
import { forEach } from '../../support/set-up.ts';
import { journalSetting } from './support/setting.ts';

const disk = vi.hoisted(() => ({ type: 0 }));
vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>();
  return { ...real, statfsSync: (path: string) => ({ ...real.statfsSync(path), type: disk.type }) };
});

const setting = forEach(journalSetting);

test.runIf(process.platform === 'linux').each([
  ['NFS', 0x6969],
  ['SMB', 0xfe534d42],
  ['9p', 0x01021997],
  ['FUSE', 0x65735546],
])('a folder on %s is refused, because two machines would share no memory', async (_name, type) => {
  disk.type = type;
  const refused = {
    code: 'journal-unusable',
    message: expect.stringMatching(/is on a network drive/),
    hint: expect.stringMatching(/CODESIGN_STATE_DIR/),
  };
  await expect(setting.open()).rejects.toMatchObject(refused);
  await expect(readJournal(setting.options())).rejects.toMatchObject(refused);
  expect(fs.readdirSync(setting.folder)).toEqual([]);
});
