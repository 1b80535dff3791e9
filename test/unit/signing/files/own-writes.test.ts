/** Writes of other programs to the temporary file are found before it replaces the original. */

import {
  copyFile,
  type FileHandle,
  link,
  open,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Patch } from '../../../../src/bytes/pieces.ts';
import { openInput } from '../../../../src/files/input-file.ts';
import { watchWrites } from '../../../../src/signing/files/own-writes.ts';
import type { StagedCopy } from '../../../../src/signing/files/staged-copy.ts';
import { folderForEach } from '../../../support/set-up.ts';
import { applyPatch } from '../../formats/support/apply-patch.ts';
import { testCopy } from './test-copy.ts';

const SMALL = 100_000;
const LARGE = 300_000;
/** Two writes within one tick of the clock look alike. */
const TICK_MILLISECONDS = 12;
const edit = (offset: number, remove: number, insert: string) => ({ offset, remove, insert: [Buffer.from(insert)] });

const folder = folderForEach();
let target: string;
let temporary: string;
beforeEach(async () => {
  target = folder.at('target');
  temporary = folder.at('.codesign-remote-x.tmp');
});

const originalOf = (size: number) => Buffer.alloc(size, 'original ');

type Step = 'measured' | 'rehearsed' | 'flushed' | 'sealed';
const STEPS: readonly Step[] = ['measured', 'rehearsed', 'flushed', 'sealed'];

/** Signs in miniature, and lets `interfere` act after one step. Gives the expected result. */
async function change(size: number, at: Step, interfere: () => Promise<void>): Promise<Buffer> {
  const original = originalOf(size);
  await writeFile(target, original);
  const rehearsal: Patch = [edit(4096, 2, '..'), edit(size, 0, '....')];
  const real: Patch = [edit(4096, 2, 'XY'), edit(size, 0, 'SEAL')];
  await using input = await openInput(target);
  await using copy = await testCopy({ source: input.source, stats: input.stats, target });
  const actions: Readonly<Record<Step, (copy: StagedCopy) => Promise<unknown>>> = {
    measured: () => copy.reader.measure(input.source, [{ start: 0, end: size }], ['SHA256']),
    rehearsed: () => copy.apply(rehearsal),
    flushed: () => copy.flush(),
    sealed: () => copy.apply(real),
  };
  for (const step of STEPS) {
    await actions[step](copy);
    if (step !== at) continue;
    await sleep(TICK_MILLISECONDS);
    await interfere();
  }
  await copy.replaceTarget({ isNew: false, assertUnchanged: () => undefined });
  return applyPatch(original, real);
}

const codeOf = (thrown: { readonly code?: string }) => thrown.code;

/** Changes a byte, and sets the times back. */
async function flip(position: number): Promise<void> {
  await using handle = await open(temporary, 'r+');
  const { atime, mtime } = await handle.stat();
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, position);
  await handle.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, position);
  await handle.utimes(atime, mtime);
}

describe('a temporary file', () => {
  it.each([SMALL, LARGE])('of %i bytes becomes the file if no other program touches it', async (size) => {
    const expected = await change(size, 'sealed', async () => undefined);
    expect((await readFile(target)).equals(expected)).toBe(true);
  });

  it.each<[string, (size: number) => Promise<void>]>([
    ['changes a byte and sets the times back', (size) => flip(size >> 1)],
    ['gives it another size', (size) => truncate(temporary, size - 10)],
  ])('does not become the file if a program %s, after any step', async (_, harm) => {
    for (const size of [SMALL, LARGE]) {
      for (const step of STEPS) {
        expect([step, await change(size, step, () => harm(size)).catch(codeOf)]).toEqual([step, 'copy-changed']);
        expect((await readFile(target)).equals(originalOf(size))).toBe(true);
      }
    }
  });

  it.each<[string, () => Promise<void>]>([
    ['a copy', () => copyFile(temporary, folder.at('other')).then(() => rename(folder.at('other'), temporary))],
    ['a link', () => symlink('victim', folder.at('l')).then(() => rename(folder.at('l'), temporary))],
    ['a hard link', () => link(folder.at('victim'), folder.at('l')).then(() => rename(folder.at('l'), temporary))],
  ])('does not become the file if a program puts %s in its place, after any step', async (_, swap) => {
    const victim = folder.at('victim');
    await writeFile(victim, 'victim', { mode: 0o640 });
    for (const size of [SMALL, LARGE]) {
      for (const step of STEPS) {
        expect([step, await change(size, step, swap).catch(codeOf)]).toEqual([step, 'copy-changed']);
        expect((await readFile(target)).equals(originalOf(size))).toBe(true);
        const { mode, uid } = await stat(victim);
        expect([await readFile(victim, 'utf8'), mode & 0o777, uid]).toEqual(['victim', 0o640, process.getuid?.()]);
      }
      await rm(temporary, { force: true });
    }
  });
});

describe('on a file system that is not known to be local', () => {
  async function written(interfere: (handle: FileHandle) => Promise<unknown>): Promise<void> {
    await using handle = await open(temporary, 'wx+');
    const writes = watchWrites(handle, false);
    await writes.own(async () => void (await handle.write('content')));
    await interfere(handle);
    writes.assertUntouched(await stat(temporary, { bigint: true }));
  }

  it('another size is found', async () => {
    await expect(written((handle) => handle.truncate(3))).rejects.toMatchObject({ code: 'copy-changed' });
  });

  it('times that arrive late are not the write of another program', async () => {
    await expect(written((handle) => handle.utimes(1, 1))).resolves.toBeUndefined();
  });
});
