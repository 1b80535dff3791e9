import { open, stat, writeFile } from 'node:fs/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { folderForEach } from '../../../support/set-up.ts';
import { testCopy } from './test-copy.ts';

const folder = folderForEach();

afterEach(() => vi.restoreAllMocks());

it.each(['measured', 'only copied'])(
  'a copy of many megabytes (%s) is rejected, before a signature is requested, when a flush under way failed and a later one would not',
  async (how) => {
    const target = folder.at('target');
    await writeFile(target, 'the old file');
    const original = memorySource(Buffer.alloc(20 * 1024 * 1024, 7));
    await using copy = await testCopy({ source: original, stats: await stat(target, { bigint: true }), target });
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
