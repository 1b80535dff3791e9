/** Cost of the temporary file, step by step: what is read, written and digested again, and what happens on a faulty disk. */

import { createHash } from 'node:crypto';
import { mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ByteSource, memorySource } from '../../../../src/bytes/byte-source.ts';
import type { Edit, Patch } from '../../../../src/bytes/patch.ts';
import { type StagedCopy, stageCopy } from '../../../../src/signing/files/staged-copy.ts';
import { readArchive } from '../../../../src/zip/archive.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { applyPatch } from '../../formats/support/apply-patch.ts';
import { seededRandom } from '../../zip/support/random.ts';
import { buildZip, deflated, stored } from '../../zip/support/zip-builder.ts';

const SIZE = 2_500_000;
const random = seededRandom(7);
const ORIGINAL = Buffer.from(Uint8Array.from({ length: SIZE }, () => random(256)));

let folder: string;
let target: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-steps-'));
  target = join(folder, 'target');
  await writeFile(target, 'the old file');
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

interface Staged {
  readonly copy: StagedCopy;
  /** How many bytes of the original were read since the last time this was asked. */
  readonly streamed: () => number;
  /** Names of entries digested since the last time this was asked. */
  readonly digested: () => readonly string[];
}

async function stage(original: Buffer): Promise<Staged> {
  let streamed = 0;
  let digested: string[] = [];
  const memory = memorySource(original);
  const source: ByteSource = {
    size: memory.size,
    read(offset, length) {
      streamed += length;
      return memory.read(offset, length);
    },
    async *stream(start = 0, end = memory.size) {
      for (let at = start; at < end; at += 1_000_000) {
        const chunk = original.subarray(at, Math.min(end, at + 1_000_000));
        streamed += chunk.length;
        yield chunk;
      }
    },
  };
  const copy = await stageCopy({
    source,
    stats: await stat(target, { bigint: true }),
    target,
    randomName: () => 'steps',
    digestEntries: (asked, entries, algorithms) => {
      digested.push(...entries.map(({ name }) => name));
      return digestEntries(asked, entries, algorithms);
    },
    temporaryFiles: new Set(),
    onEvent: () => undefined,
  });
  const takeStreamed = (): number => {
    const taken = streamed;
    streamed = 0;
    return taken;
  };
  const takeDigested = (): readonly string[] => {
    const taken = digested;
    digested = [];
    return taken;
  };
  return { copy, streamed: takeStreamed, digested: takeDigested };
}

const edit = (offset: number, remove: number, insert: string): Edit => ({
  offset,
  remove,
  insert: [Buffer.from(insert)],
});
const measureAll = (copy: StagedCopy) =>
  copy.reader.measure(memorySource(ORIGINAL), [{ start: 0, end: SIZE }], ['SHA256']);

async function contentsOf(copy: StagedCopy): Promise<Buffer> {
  const { source } = copy.reopen();
  return Buffer.from(await source.read(0, source.size));
}

/** Each patch after the one before: how many bytes of the original were read for it, and that the copy is what it shall be. */
async function readFor(patches: readonly Patch[], { measured = false } = {}): Promise<number[]> {
  const { copy, streamed } = await stage(ORIGINAL);
  await using _ = copy;
  if (measured) await measureAll(copy);
  const read: number[] = [];
  streamed();
  for (const patch of patches) {
    await copy.apply(patch);
    read.push(streamed());
    expect((await contentsOf(copy)).equals(applyPatch(ORIGINAL, patch))).toBe(true);
  }
  return read;
}

describe('a patch', () => {
  const rehearsal = [edit(0, 0, '......'), edit(1_500_000, 10, ''), edit(SIZE - 5, 5, '...')];
  const real = [edit(0, 0, 'SEALED'), edit(1_500_000, 10, ''), edit(SIZE - 5, 5, 'end')];

  it('is written from the original, and one of the same shape over it', async () => {
    expect(await readFor([rehearsal, real])).toEqual([SIZE - 15, 0]);
  });

  it('is written from the original as far as it moves what the copy has', async () => {
    expect(await readFor([rehearsal, real], { measured: true })).toEqual([SIZE - 15, 0]);
    const sameLength = [edit(0, 0, 'SEALED'), edit(1_500_000, 6, '')];
    expect(await readFor([sameLength], { measured: true })).toEqual([1_500_000]);
    const longer = [edit(0, 0, 'LONGER THAN THE REHEARSAL'), ...real.slice(1)];
    const elsewhere = [edit(1, 0, 'SEALED'), ...real.slice(1)];
    const all = SIZE - 15;
    expect(await readFor([rehearsal, longer, real, elsewhere, real.slice(0, 2), []])).toEqual([
      ...[all, all, all],
      // The first byte, and after that the last ones and the first one.
      ...[1, 6],
      SIZE,
    ]);
  });

  it('is made in place where the copy was written while it was measured and nothing moves', async () => {
    const inPlace = [edit(5, 4, 'abcd'), edit(SIZE, 0, 'a tail')];
    const longerTail = [edit(5, 4, 'efgh'), edit(SIZE, 0, 'a much longer tail')];
    const noTail = [edit(5, 4, 'ijkl'), edit(SIZE, 0, '')];
    expect(await readFor([inPlace, longerTail, noTail], { measured: true })).toEqual([0, 0, 0]);
  });

  it('gives back what the one before it overwrote', async () => {
    expect(await readFor([[edit(5, 4, 'abcd')], [edit(9, 4, 'abcd')]], { measured: true })).toEqual([0, 4]);
    expect(await readFor([[edit(0, 0, 'moved')], [edit(5, 4, 'abcd')]], { measured: true })).toEqual([SIZE, SIZE - 4]);
  });

  it('gives exactly the patched bytes, whichever came before it', async () => {
    const patches = Array.from({ length: 12 }, () => {
      const offsets = [random(SIZE), random(SIZE)].sort((a, b) => a - b);
      const [first = 0, second = 0] = offsets;
      const remove = Math.min(random(2000), second - first);
      return [
        edit(first, remove, 'x'.repeat(random(2) === 0 ? remove : random(3000))),
        edit(second, 0, 'y'.repeat(random(9))),
      ];
    });
    await readFor(patches, { measured: true });
  });
});

describe('a draft', () => {
  /** Lays the file out anew, in halves that change places, with a signature behind them. */
  const HALF = SIZE / 2;
  const halves = (signature: string): Patch => [
    {
      offset: 0,
      remove: SIZE,
      insert: [
        Buffer.from(`head of ${signature.length}`),
        { start: HALF, end: SIZE },
        { start: 0, end: HALF },
        Buffer.from(signature),
      ],
    },
  ];
  const content = [{ start: HALF, end: SIZE }, Buffer.from('!'), { start: 0, end: HALF }];

  async function drafted() {
    const staged = await stage(ORIGINAL);
    const measure = staged.copy.reader.measure(memorySource(ORIGINAL), content, ['SHA256'], () => halves(''));
    return { ...staged, measured: await measure };
  }

  it('is written while the content is digested, and the patch over it', async () => {
    const { copy, streamed, measured } = await drafted();
    await using _ = copy;
    // Once to digest it, and once to write it.
    expect(streamed()).toBe(2 * SIZE);
    const expected = Buffer.concat([ORIGINAL.subarray(HALF), Buffer.from('!'), ORIGINAL.subarray(0, HALF)]);
    expect(measured.digests.get('SHA256')).toEqual(createHash('sha256').update(expected).digest());
    for (const signature of ['.', 'S']) {
      await copy.apply(halves(signature));
      expect(streamed()).toBe(0);
      expect((await contentsOf(copy)).equals(applyPatch(ORIGINAL, halves(signature)))).toBe(true);
    }
  });

  it('that cannot be written is reported, once the digest is done', async () => {
    const { copy } = await stage(ORIGINAL);
    await using _ = copy;
    const draft = (): Patch => [{ offset: 0, remove: 0, insert: [{ start: 0, end: SIZE + 1 }] }];
    const measured = copy.reader.measure(memorySource(ORIGINAL), content, ['SHA256'], draft);
    await expect(measured).rejects.toMatchObject({ code: 'pieces-invalid' });
  });
});

describe('a copy that could not be written', () => {
  it('is written from the original when it is requested again', async () => {
    const { copy, streamed } = await stage(ORIGINAL);
    await using _ = copy;
    await using any = await open(target);
    const failure = Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO', syscall: 'write' });
    vi.spyOn(Object.getPrototypeOf(any), 'write').mockRejectedValueOnce(failure);
    const patch = [edit(0, 0, 'moved')];
    await expect(copy.apply(patch)).rejects.toMatchObject({ code: 'file-system' });
    streamed();
    await copy.apply(patch);
    expect(streamed()).toBe(SIZE);
    expect((await contentsOf(copy)).equals(applyPatch(ORIGINAL, patch))).toBe(true);
  });
});

describe('an archive in the copy', () => {
  it('is digested whole when it is reopened', async () => {
    const archive = buildZip({ entries: [stored('a.txt'), deflated('b.txt'), stored('c.txt')] });
    const { copy, digested } = await stage(archive);
    await using _ = copy;
    const { entries } = await readArchive(memorySource(archive));
    await copy.reader.digestEntries(memorySource(archive), entries, ['sha256']);
    expect(digested()).toEqual(['a.txt', 'b.txt', 'c.txt']);
    await copy.apply([]);
    const { source, reader } = copy.reopen();
    await reader.digestEntries?.(source, (await readArchive(source)).entries, ['sha256']);
    expect(digested()).toEqual(['a.txt', 'b.txt', 'c.txt']);
  });
});
