import { chmod, chown, open, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { LARGEST_DIRECT } from '../../../../src/bytes/file-source.ts';
import type { Edit, Patch } from '../../../../src/bytes/pieces.ts';
import { measureContent } from '../../../../src/crypto/measure-content.ts';
import type { StagedCopy } from '../../../../src/signing/files/staged-copy.ts';
import { folderForEach } from '../../../support/set-up.ts';
import { applyPatch } from '../../formats/support/apply-patch.ts';
import { seededRandom } from '../../zip/support/random.ts';
import { testCopy } from './test-copy.ts';

/** A large file is not written as a whole. */
const FILLER = ' '.repeat(2 * LARGEST_DIRECT);
const ORIGINAL = Buffer.from('0123456789abcdefghij');
const folder = folderForEach();
let target: string;
beforeEach(async () => {
  target = folder.at('target');
  await writeFile(target, ORIGINAL);
});

async function stage(original: Buffer = ORIGINAL): Promise<StagedCopy> {
  return testCopy({ source: memorySource(original), stats: await stat(target, { bigint: true }), target });
}

const UNCHANGED = { isNew: false, assertUnchanged: () => undefined };
const edit = (offset: number, remove: number, insert: string) => ({ offset, remove, insert: [Buffer.from(insert)] });
/** Sorted edits that do not overlap, often touching, with text and ranges of the original. */
function randomPatch(random: (limit: number) => number): Patch {
  const edits: Edit[] = [];
  for (let offset = random(3) * random(5), left = random(6); left > 0 && offset < ORIGINAL.length; left--) {
    const remove = Math.min(random(3) * random(5), ORIGINAL.length - offset);
    const [start, text] = [random(15), Buffer.alloc(random(3) * random(4), 65 + random(26))];
    edits.push({ offset, remove, insert: [text, { start, end: start + random(6) }, text] });
    offset += remove + random(2) * random(8);
  }
  return edits;
}

async function commit(patches: readonly Patch[], original: Buffer = ORIGINAL): Promise<string> {
  await using copy = await stage(original);
  await copy.reader.measure(memorySource(original), [{ start: 0, end: original.length }], ['SHA256']);
  for (const patch of patches) await copy.apply(patch);
  await copy.replaceTarget(UNCHANGED);
  return readFile(target, 'utf8');
}

describe('apply', () => {
  it.each([
    ['small', ''],
    ['large', FILLER],
  ])('gives a %s file exactly the patched bytes, whatever patch was rehearsed before', async (_, filler) => {
    const original = Buffer.from(ORIGINAL + filler);
    const random = seededRandom(1);
    const patches = Array.from({ length: 25 }, () => randomPatch(random));
    for (const [index, patch] of patches.entries()) {
      await writeFile(target, ORIGINAL);
      const result = await commit([patches[index - 1] ?? [], patch], original);
      expect([index, result === applyPatch(original, patch).toString()]).toEqual([index, true]);
    }
  });

  it.each<[string, Patch]>([
    ['go back', [edit(5, 2, ''), edit(4, 0, '')]],
    ['remove beyond the end', [edit(0, 2, 'XY'), edit(20, 1, '')]],
    ['remove fewer than no bytes', [edit(5, -1, '')]],
    ['insert a range beyond the end', [edit(0, 2, 'XY'), { offset: 20, remove: 0, insert: [{ start: 19, end: 21 }] }]],
  ])('rejects edits that %s before anything is written', async (_, patch) => {
    await using copy = await stage();
    await copy.apply([]);
    await expect(copy.apply(patch)).rejects.toMatchObject({ code: 'pieces-invalid', category: 'internal' });
    const { source } = await copy.reopen();
    expect(Buffer.from(await source.read(0, source.size)).equals(ORIGINAL)).toBe(true);
  });
});

describe('the temporary file', () => {
  it('is private, next to the target, and is removed when the work is abandoned', async () => {
    const copy = await stage();
    expect((await stat(folder.at('.codesign-remote-x.tmp'))).mode & 0o777).toBe(0o600);
    expect(await readdir(folder.path)).toEqual(['.codesign-remote-x.tmp', 'target']);
    await copy[Symbol.asyncDispose]();
    expect(await readdir(folder.path)).toEqual(['target']);
    expect(await readFile(target)).toEqual(ORIGINAL);
  });

  it.each([
    ['set-user-ID', 0o4755, 0o755],
    ['set-group-ID and sticky', 0o3755, 0o755],
    ['read-only', 0o555, 0o755],
    ['private', 0o600, 0o600],
  ])('takes the mode of a file that is %s, writable and without special bits', async (_, mode, is) => {
    await chmod(target, mode);
    await commit([[]]);
    expect((await stat(target)).mode & 0o7777).toBe(is);
  });

  it.skipIf(process.getuid?.() !== 0)('keeps owner and group for root', async () => {
    await chown(target, 1234, 2345);
    await commit([[]]);
    const { uid, gid } = await stat(target);
    expect([uid, gid]).toEqual([1234, 2345]);
  });

  it('is as old as its content: the times of the original are not taken over', async () => {
    await utimes(target, 1, 1);
    const started = Date.now() - 2000;
    await commit([[edit(0, 1, 'X')]]);
    expect((await stat(target)).mtimeMs).toBeGreaterThan(started);
  });

  it('never takes the place of a file that has its name', async () => {
    await writeFile(folder.at('.codesign-remote-x.tmp'), 'someone else');
    await expect(stage()).rejects.toMatchObject({ category: 'local' });
    expect(await readFile(folder.at('.codesign-remote-x.tmp'), 'utf8')).toBe('someone else');
  });

  it('replaces whole files: a reader with the old one open keeps it', async () => {
    const reader = await open(target);
    await commit([[edit(0, 20, 'new')]]);
    expect((await reader.readFile()).equals(ORIGINAL)).toBe(true);
    await reader.close();
  });

  const contentUpTo = (end: number) => [
    { start: 2, end: 10 },
    { start: 12, end },
  ];

  it.each<[string, Patch, string]>([
    ['the same content', [], '0123456789abcdefghij'],
    ['edits outside of the content', [edit(0, 2, 'XY'), edit(10, 2, 'Z.')], 'XY23456789Z.cdefghij'],
    ['content after the end', [edit(0, 2, 'XY'), edit(20, 0, 'MORE')], 'XY23456789abcdefghijMORE'],
    ['an insertion in the content', [edit(5, 0, '!')], '01234!56789abcdefghij'],
  ])('on reopening measures %s as it stands in the file', async (_, patch, text) => {
    for (const more of ['', FILLER]) {
      const original = Buffer.from(ORIGINAL + more);
      await using copy = await stage(original);
      await copy.reader.measure(memorySource(original), contentUpTo(original.length), ['SHA256', 'SUM16']);
      await copy.apply(patch);
      const { source, reader } = await copy.reopen();
      expect(source.size).toBe(text.length + more.length);
      const content = contentUpTo(source.size);
      const expected = await measureContent(memorySource(Buffer.from(text + more)), content, ['SHA256', 'SUM16']);
      expect(await reader.measure(source, content, ['SHA256', 'SUM16'])).toEqual(expected);
    }
  });
});
