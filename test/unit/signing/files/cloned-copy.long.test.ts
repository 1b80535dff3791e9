/** Where the file system lets files share their bytes, the copy is a clone: nothing is copied, and the result is the same. */

import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Patch } from '../../../../src/bytes/patch.ts';
import { openInput } from '../../../../src/files/input-file.ts';
import { stageCopy } from '../../../../src/signing/files/staged-copy.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { isShared, mountSharingDisk, type SharingDisk } from '../../../support/programs/sharing-disk.ts';

const ORIGINAL = randomBytes(30_000_000);
const ALL = [{ start: 0, end: ORIGINAL.length }];
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const edit = (offset: number, remove: number, insert: string) => ({ offset, remove, insert: [Buffer.from(insert)] });
const END = ORIGINAL.length;

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.log('left out without root, who alone may mount: signing where files share their bytes');
let disk: SharingDisk | undefined;
let target: string;

/** Stages, measures and patches as signing does. */
async function change(...patches: readonly Patch[]) {
  const heard: number[] = [];
  await using input = await openInput(target, (bytes) => heard.push(bytes));
  await using copy = await stageCopy({
    ...{ source: input.source, original: input, stats: input.stats, target },
    ...{ randomName: () => 'x', digestEntries, temporaryFiles: new Set(), onEvent: () => undefined },
  });
  const { digests } = await copy.reader.measure(input.source, ALL, ['SHA256']);
  const temporary = join(disk?.folder ?? '', '.codesign-remote-x.tmp');
  const asStaged = { isShared: isShared(temporary), mode: (await stat(temporary)).mode & 0o777 };
  for (const patch of patches) await copy.apply(patch);
  await copy.flush();
  const { source, reader } = copy.reopen();
  const again = await reader.measure(source, [{ start: 0, end: source.size }], ['SHA256']);
  await copy.takeOwnerAndMode();
  await copy.prove();
  const original = sha256(await readFile(target));
  const asChanged = { isShared: isShared(temporary) };
  await copy.replaceTarget();
  const hex = (measured: typeof again) => Buffer.from(measured.digests.get('SHA256') ?? []).toString('hex');
  return { measured: hex({ digests, sum16: undefined }), asStaged, asChanged, again: hex(again), original, heard };
}

describe.runIf(isRoot).each(['xfs', 'btrfs'] as const)('on %s', (type) => {
  beforeAll(async () => {
    disk = await mountSharingDisk(type);
  });
  afterAll(async () => {
    await disk?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    target = join(disk?.folder ?? '', 'target');
    await writeFile(target, ORIGINAL);
  });

  test.each<[string, Patch[], (bytes: Buffer) => Buffer, boolean]>([
    ['nothing', [[]], (bytes) => bytes, true],
    ['what is appended', [[edit(END, 0, 'TAIL')]], (bytes) => Buffer.concat([bytes, Buffer.from('TAIL')]), true],
    [
      'a rehearsal, then the real thing',
      [
        [edit(4096, 2, '..'), edit(END, 0, '....')],
        [edit(4096, 2, 'XY'), edit(END, 0, 'SEALED')],
      ],
      (bytes) =>
        Buffer.concat([bytes.subarray(0, 4096), Buffer.from('XY'), bytes.subarray(4098), Buffer.from('SEALED')]),
      true,
    ],
    [
      'a shorter end',
      [[edit(END - 5000, 5000, 's')]],
      (bytes) => Buffer.concat([bytes.subarray(0, END - 5000), Buffer.from('s')]),
      true,
    ],
    [
      'an insertion at the front',
      [[edit(0, 0, 'FRONT')]],
      (bytes) => Buffer.concat([Buffer.from('FRONT'), bytes]),
      false,
    ],
  ])('%s', async (_, patches, patched, staysShared) => {
    const { measured, asStaged, asChanged, again, original, heard } = await change(...patches);
    const expected = patched(ORIGINAL);
    expect({ asStaged, asChanged }).toEqual({
      asStaged: { isShared: true, mode: 0o600 },
      asChanged: { isShared: staysShared },
    });
    expect({ measured, original }).toEqual({ measured: sha256(ORIGINAL), original: sha256(ORIGINAL) });
    expect(heard.at(-1)).toBe(END);
    const result = await readFile(target);
    expect(result.equals(expected)).toBe(true);
    expect(again).toBe(sha256(expected));
    expect(await readdir(disk?.folder ?? '')).toEqual(['target']);
  });

  test('a copy that is given up leaves the original alone', async () => {
    await using input = await openInput(target);
    const copy = await stageCopy({
      ...{ source: input.source, original: input, stats: input.stats, target },
      ...{ randomName: () => 'x', digestEntries, temporaryFiles: new Set(), onEvent: () => undefined },
    });
    await copy.apply([edit(0, 100, 'changed')]);
    await copy[Symbol.asyncDispose]();
    expect(await readdir(disk?.folder ?? '')).toEqual(['target']);
    expect((await readFile(target)).equals(ORIGINAL)).toBe(true);
  });
});
