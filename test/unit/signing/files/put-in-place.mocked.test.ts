import type { BigIntStats } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { identityAt, openInput } from '../../../../src/files/input-file.ts';
import { assertUnchanged, type Versions, versionAt } from '../../../../src/signing/files/unchanged.ts';
import { folderForEach } from '../../../support/set-up.ts';
import { testCopy } from './test-copy.ts';

/** Errors of the next links and renames, and the files that were opened. */
const { answers, seen } = vi.hoisted(() => ({
  answers: { link: [] as string[], rename: [] as string[] },
  seen: {
    opened: [] as string[],
    fileSystem: 0,
    beforeLink: () => undefined as unknown,
    /** Results of `stat` from the cache of a network drive. */
    cached: new Map<string, BigIntStats>(),
  },
}));
vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs')>();
  const fail = (syscall: 'link' | 'rename') => {
    const code = answers[syscall].shift();
    if (code !== undefined) throw Object.assign(new Error(code), { code, syscall });
  };
  return {
    ...original,
    linkSync: (from: string, to: string) => {
      seen.beforeLink();
      fail('link');
      original.linkSync(from, to);
    },
    renameSync: (from: string, to: string) => {
      fail('rename');
      original.renameSync(from, to);
    },
    openSync: (path: string, flags: number) => {
      seen.opened.push(path);
      return original.openSync(path, flags);
    },
    statfsSync: (path: string) => ({ ...original.statfsSync(path), type: seen.fileSystem }),
    statSync: (path: string, options: { readonly bigint: true }) =>
      seen.cached.get(path) ?? original.statSync(path, options),
  };
});
const { writeFileSync } = await vi.importActual<typeof import('node:fs')>('node:fs');

const NFS = 0x6969;
const EXT4 = 0xef53;

const folder = folderForEach();
let input: string;
let target: string;
beforeEach(async () => {
  Object.assign(answers, { link: [], rename: [] });
  Object.assign(seen, { opened: [], fileSystem: EXT4, beforeLink: () => undefined, cached: new Map() });
  input = folder.at('input');
  target = folder.at('target');
  await writeFile(input, 'old');
});

/** Plans, writes a copy, lets `interfere` act, and puts the copy in place. */
async function replace(interfere: () => unknown = () => undefined): Promise<void> {
  await using opened = await openInput(input);
  const { stats, source, isLocal } = opened;
  const plan: Versions = {
    ...{ path: input, stats, target, isLocal },
    targetVersion: versionAt(target),
    folderIdentity: identityAt(folder.path),
  };
  await using copy = await testCopy({ source, stats, target });
  await copy.apply([{ offset: 0, remove: 3, insert: [Buffer.from('new')] }]);
  await interfere();
  await copy.replaceTarget({ isNew: plan.targetVersion === undefined, assertUnchanged: () => assertUnchanged(plan) });
}

const left = async () => [await readdir(folder.path), await readFile(target, 'utf8')];
const FILE_CHANGED = { code: 'file-changed', category: 'local' };

describe('a target that was absent', () => {
  it.each([[], ['EPERM']])('stays unchanged if it appears between the check and the link (%j)', async (...codes) => {
    answers.link.push(...codes);
    seen.beforeLink = () => writeFileSync(target, 'of another run');
    await expect(replace()).rejects.toMatchObject(FILE_CHANGED);
    expect(await left()).toEqual([['input', 'target'], 'of another run']);
  });

  it.each(['EPERM', 'EMLINK'])('is created by a rename where no link can be made: %s', async (code) => {
    answers.link.push(code);
    await replace();
    expect([answers.link, ...(await left())]).toEqual([[], ['input', 'target'], 'new']);
  });

  it('is created if a network drive reports its own link as another file', async () => {
    const { linkSync } = await vi.importActual<typeof import('node:fs')>('node:fs');
    seen.beforeLink = () => linkSync(folder.at('.codesign-remote-x.tmp'), target);
    await replace();
    expect(await left()).toEqual([['input', 'target'], 'new']);
  });
});

describe('a target that was there', () => {
  beforeEach(() => writeFile(target, 'an earlier result'));

  it.each<[string, () => unknown]>([
    ['another program writes to it', () => writeFile(target, 'of another run')],
    ['it is replaced', () => rm(target).then(() => writeFile(target, 'of another run'))],
    ['the input changes', () => writeFile(target, 'of another run').then(() => writeFile(input, 'newer'))],
  ])('stays as it is then if %s', async (_, interfere) => {
    await expect(replace(interfere)).rejects.toMatchObject(FILE_CHANGED);
    expect(await left()).toEqual([['input', 'target'], 'of another run']);
  });

  it.each(['EEXIST', 'ENOTSUP', 'EXDEV', 'ENOSYS'])('stays if it cannot be renamed onto: %s', async (code) => {
    answers.rename.push(code);
    const message = `the target cannot be replaced: its file system does not allow it (${code})`;
    await expect(replace()).rejects.toMatchObject({ code: 'not-replaceable', message });
    expect(await left()).toEqual([['input', 'target'], 'an earlier result']);
  });

  it('is replaced after a program that holds it for a moment', async () => {
    answers.rename.push('EBUSY', 'EBUSY');
    await replace();
    expect([answers.rename, ...(await left())]).toEqual([[], ['input', 'target'], 'new']);
  });

  it('stays unchanged if it changes while another program has it open', async () => {
    answers.rename.push('EBUSY');
    const replaced = replace();
    await vi.waitFor(() => expect(answers.rename).toEqual([]), { interval: 1, timeout: 20_000 });
    writeFileSync(target, 'of another run');
    await expect(replaced).rejects.toMatchObject(FILE_CHANGED);
    expect(await readFile(target, 'utf8')).toBe('of another run');
  });
});

describe('the check before the rename', () => {
  beforeEach(() => writeFile(target, 'an earlier result'));

  it.each([
    ['a network drive', NFS, ['input', 'target']],
    ['a local file system', EXT4, []],
  ])('on %s (file system %i) opens %j', async (_, fileSystem, opened) => {
    seen.fileSystem = fileSystem;
    await replace(() => {
      seen.opened = [];
    });
    expect(seen.opened).toEqual(opened.map((name) => folder.at(name)));
  });

  it('finds a change on a network drive that still gives the earlier times, from a cache', async () => {
    seen.fileSystem = NFS;
    const cached = await stat(target, { bigint: true });
    const changed = replace(async () => {
      await writeFile(target, 'of another run');
      seen.cached.set(target, cached);
    });
    await expect(changed).rejects.toMatchObject(FILE_CHANGED);
    expect(await readFile(target, 'utf8')).toBe('of another run');
  });
});
