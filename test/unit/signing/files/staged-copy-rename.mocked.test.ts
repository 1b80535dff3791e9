/** The one rename, on file systems and next to programs that do not let it happen: the original stays, or is replaced whole. */

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { stageCopy } from '../../../../src/signing/files/staged-copy.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';

/** What the system answers to the next renames, before it does what is asked. */
const { answers } = vi.hoisted(() => ({ answers: [] as string[] }));
vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs/promises')>();
  return {
    ...original,
    rename: async (from: string, to: string) => {
      const code = answers.shift();
      if (code !== undefined) throw Object.assign(new Error(code), { code, syscall: 'rename' });
      await original.rename(from, to);
    },
  };
});

let folder: string;
let target: string;
beforeEach(async () => {
  answers.length = 0;
  folder = await mkdtemp(join(tmpdir(), 'codesign-rename-'));
  target = join(folder, 'target');
  await writeFile(target, 'old');
  return () => rm(folder, { recursive: true });
});

async function replace(): Promise<void> {
  await using copy = await stageCopy({
    source: memorySource(Buffer.from('old')),
    stats: await stat(target, { bigint: true }),
    target,
    randomName: () => 'x',
    digestEntries,
    temporaryFiles: new Set(),
    onEvent: () => undefined,
  });
  await copy.apply([{ offset: 0, remove: 3, insert: [Buffer.from('new')] }]);
  await copy.prove();
  await copy.replaceTarget();
}

describe('where no file can be renamed onto another', () => {
  it.each(['EEXIST', 'ENOTSUP', 'EXDEV', 'ENOSYS'])('the original stays, and --output is named: %s', async (code) => {
    answers.push(code);
    await expect(replace()).rejects.toMatchObject({
      code: 'not-replaceable',
      category: 'local',
      message: `${target} cannot be replaced: its file system does not allow it (${code})`,
      hint: expect.stringContaining('--output'),
    });
    expect([await readdir(folder), await readFile(target, 'utf8')]).toEqual([['target'], 'old']);
  });
});

it('waits for a program that holds the target for a moment', async () => {
  answers.push('EBUSY', 'EBUSY');
  await replace();
  expect([answers, await readdir(folder), await readFile(target, 'utf8')]).toEqual([[], ['target'], 'new']);
});
