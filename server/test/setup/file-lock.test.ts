import { expect, test } from 'vitest';
import { folderForEach } from '../../../test/support/set-up.ts';
import { underFileLock } from '../../src/files.ts';

const root = folderForEach();

test('the lock admits one process at a time, and the next one even after a failure', async () => {
  let inside = 0;
  let most = 0;
  const work = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setTimeout(resolve, 20));
    inside -= 1;
  };
  await expect(underFileLock(root.at('lock'), async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await Promise.all([1, 2, 3].map(() => underFileLock(root.at('lock'), work)));
  expect(most).toBe(1);
});

test('a root that holds no lock file is an error of the data folder', async () => {
  const missing = underFileLock(root.at('missing', 'lock'), async () => {});
  await expect(missing).rejects.toMatchObject({ code: 'data-folder-unusable' });
});
