/** When the disk is asked to begin, and that what it fails of is not forgotten. */

import { open, stat, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ByteSource } from '../../../../src/bytes/byte-source.ts';
import { flushInTurn, writeBackWith } from '../../../../src/signing/files/flushes.ts';
import { stageCopy } from '../../../../src/signing/files/staged-copy.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { folderForEach } from '../../../support/set-up.ts';

const MEBIBYTE = 1024 * 1024;

/** Sevens, by the mebibyte. */
function sevens(size: number): ByteSource {
  const chunk = Buffer.alloc(MEBIBYTE, 7);
  return {
    size,
    read: async (_offset, length) => Buffer.alloc(length, 7),
    async *stream(start = 0, end = size) {
      for (let at = start; at < end; at += MEBIBYTE) yield chunk.subarray(0, Math.min(MEBIBYTE, end - at));
    },
  };
}

describe('writing back', () => {
  it('is requested each 16 MiB, once at a time', async () => {
    const ends: (() => void)[] = [];
    const writeBack = writeBackWith(() => new Promise((resolve) => ends.push(resolve)));
    const writeUpTo = (mebibytes: number) => {
      for (let written = 0; written <= mebibytes; written++) writeBack(written * MEBIBYTE);
    };
    writeUpTo(15);
    expect(ends).toHaveLength(0);
    writeUpTo(100);
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await new Promise(setImmediate);
    writeBack(101 * MEBIBYTE);
    expect(ends).toHaveLength(2);
  });

  it('throws nothing if the disk reports an error', async () => {
    let asked = 0;
    const writeBack = writeBackWith(async () => {
      asked += 1;
      throw new Error('EIO');
    });
    writeBack(16 * MEBIBYTE);
    await new Promise(setImmediate);
    writeBack(32 * MEBIBYTE);
    await new Promise(setImmediate);
    expect(asked).toBe(2);
  });
});

describe('flushes in turn', () => {
  it('all fail from the failed one on, even those that were already requested', async () => {
    const ends: ((failure?: Error) => void)[] = [];
    const sync = () =>
      new Promise<void>((resolve, reject) => ends.push((failure) => (failure ? reject(failure) : resolve())));
    const { flush, assertNoneFailed } = flushInTurn(sync);
    const first = flush();
    const second = flush();
    await new Promise(setImmediate);
    expect(ends).toHaveLength(1);
    assertNoneFailed();
    ends[0]?.(new Error('EIO'));
    await expect(first).rejects.toThrow('EIO');
    await expect(second).rejects.toThrow('EIO');
    await expect(flush()).rejects.toThrow('EIO');
    expect(assertNoneFailed).toThrow('EIO');
    expect(ends).toHaveLength(1);
  });

  it('that succeed run one at a time', async () => {
    let underWay = 0;
    let most = 0;
    const { flush } = flushInTurn(async () => {
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
    });
    await Promise.all([flush(), flush(), flush()]);
    expect(most).toBe(1);
  });
});

describe('a copy of many megabytes', () => {
  const folder = folderForEach();
  afterEach(async () => {
    vi.restoreAllMocks();
  });

  it.each(['measured', 'only copied'])(
    '(%s) is rejected, before a signature is requested, when a flush under way failed and a later one would not',
    async (how) => {
      const target = folder.at('target');
      await writeFile(target, 'the old file');
      const original = sevens(40 * MEBIBYTE);
      await using copy = await stageCopy({
        source: original,
        stats: await stat(target, { bigint: true }),
        target,
        randomName: () => 'write-back',
        digestEntries,
        temporaryFiles: new Set(),
        onEvent: () => undefined,
      });
      await using any = await open(target);
      const sync = vi.spyOn(Object.getPrototypeOf(any), 'sync');
      sync.mockRejectedValueOnce(Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' }));
      if (how === 'measured') {
        await copy.reader.measure(original, [{ start: 0, end: original.size }], ['SHA256']);
      }
      const patch = [{ offset: 0, remove: 0, insert: [Buffer.from('x')] }];
      await expect(copy.apply(patch)).rejects.toMatchObject({ code: 'file-system' });
      expect(sync).toHaveBeenCalled();
      await expect(copy.flush()).rejects.toMatchObject({ code: 'file-system' });
    },
  );
});
