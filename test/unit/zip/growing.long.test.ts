/** Archives that grow beyond what their fields hold: ZIP64 appears where it has become necessary, and nowhere else. */

import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ByteSource } from '../../../src/bytes/byte-source.ts';
import { patchedSource } from '../../../src/bytes/patched-source.ts';
import { readArchive } from '../../../src/zip/archive.ts';
import { editArchive } from '../../../src/zip/edit-archive.ts';
import { storedEntry } from '../../../src/zip/write-records.ts';
import { mainJava, mustRunJava } from '../../support/programs/java.ts';
import { folderForAll } from '../../support/set-up.ts';
import { edited } from './support/editing.ts';
import { readByPython } from './support/python.ts';
import { entryNamed, read } from './support/reading.ts';
import { buildZip, type EntryParts, extraField, stored } from './support/zip-builder.ts';

const FOUR_GIB = 2 ** 32;
const ADDED = ['META-INF/A', 'META-INF/B', 'META-INF/C'].map((name) => storedEntry(name, Buffer.from(`of ${name}`)));
const ADDED_NAMES = ADDED.map(({ name }) => name);

const folder = folderForAll();

describe('the number of entries', () => {
  const archiveOf = (count: number) =>
    buildZip({
      entries: Array.from({ length: count }, (_, index) => stored(`${index}`.padStart(5, '0'), { contents: '' })),
      zip64: count > 0xffff,
    });

  it.each<[number, string]>([
    [65_531, 'fits'],
    [65_532, 'fits no longer'],
    [65_535, 'was the last without ZIP64'],
    [65_536, 'did not fit before'],
  ])('%i, with three more: %s', async (count, _) => {
    const original = archiveOf(count);
    const before = await read(original);
    const result = await edited(original, { add: ADDED });
    const after = await read(result);
    expect(before.end.zip64 !== undefined).toBe(count > 0xffff);
    expect(after.end.zip64 !== undefined).toBe(count + 3 >= 0xffff);
    expect(after.end.record.readUInt16LE(10)).toBe(Math.min(count + 3, 0xffff));
    expect(after.end.record.readUInt32LE(12)).toBe(count > 0xffff ? 0xffffffff : after.end.directorySize);
    const records = result.subarray(after.entries[3]?.offset, after.end.directoryOffset);
    expect(records.equals(original.subarray(0, before.end.directoryOffset))).toBe(true);
    expect((await edited(result, { remove: ADDED_NAMES, add: ADDED })).equals(result)).toBe(true);

    const path = join(folder, `${count}.jar`);
    await writeFile(path, result);
    const [reading] = await readByPython([path], 'directory');
    const places = (entries: readonly { name: string; offset: number }[] = []) =>
      entries.map(({ name, offset }) => `${name} ${offset}`).join();
    expect(places(reading?.entries) === places(after.entries)).toBe(true);
  });

  it('of 65,536 and more is read by Java', async () => {
    const path = join(folder, 'java.jar');
    await writeFile(path, await edited(archiveOf(65_534), { add: ADDED }));
    const names = (await mustRunJava(mainJava(), 'jar', ['-tf', path])).trim().split(/\r?\n/);
    expect(names).toHaveLength(65_537);
    expect([...names.slice(0, 4), names.at(-1)]).toEqual([...ADDED_NAMES, '00000', '65533']);
  });
});

describe('offsets', () => {
  const CONTENTS = 'behind four gibibytes';

  /** A stored entry of zeros, up to `behind`, where a small one stands. */
  function hugeArchive(behind: number, about: Partial<EntryParts> = {}): ByteSource {
    const size = behind - 30 - 'huge'.length;
    const small = stored('small', { contents: CONTENTS, ...about });
    const built = buildZip({ entries: [stored('huge', { contents: '', crc: 1, size, compressedSize: size }), small] });
    const cut = 30 + 'huge'.length;
    const tail = Buffer.from(built.subarray(cut));
    const directory = built.indexOf('PK\x01\x02', 0, 'latin1');
    tail.writeUInt32LE(behind, tail.lastIndexOf('PK\x01\x02', undefined, 'latin1') + 42);
    tail.writeUInt32LE(behind + directory - cut, tail.length - 6);
    return patchedSource(zeros(behind), [
      { offset: 0, remove: cut, insert: [built.subarray(0, cut)] },
      { offset: behind, remove: 0, insert: [tail] },
    ]);
  }

  async function grown(source: ByteSource) {
    const before = await readArchive(source);
    const patched = patchedSource(source, editArchive(before, { remove: new Set(), first: ADDED }));
    return { before, patched, after: await readArchive(patched) };
  }

  /** Writes what is not zero, which is near the beginning and the end, to a sparse file. */
  async function readSparse(name: string, { size, read: readBytes }: ByteSource) {
    await using file = await open(join(folder, name), 'w');
    for (const start of [0, size - 4096]) await file.write(await readBytes(start, 4096), 0, 4096, start);
    return (await readByPython([join(folder, name)], 'directory'))[0];
  }

  /** How far three entries move what follows. */
  async function movedBy(): Promise<number> {
    const { before, after } = await grown(hugeArchive(1000));
    return entryNamed(after, 'small').offset - entryNamed(before, 'small').offset;
  }

  it.each<[string, number, boolean]>([
    ['the last that fits', -2, false],
    ['the one that would be the mark of ZIP64', -1, true],
    ['4 GiB and one', 1, true],
  ])('become 64 bits wide where they must: %s', async (_, beyond, isWide) => {
    const archive = hugeArchive(FOUR_GIB + beyond - (await movedBy()));
    const { before, after, patched } = await grown(archive);
    const small = entryNamed(after, 'small');
    expect(small.offset).toBe(FOUR_GIB + beyond);
    expect(before.end.zip64).toBeUndefined();
    expect(after.directory.readUInt32LE(small.recordStart + 42)).toBe(isWide ? 0xffffffff : small.offset);
    const growth = small.recordEnd - small.recordStart - (46 + 'small'.length);
    expect(growth).toBe(isWide ? 4 + 8 : 0);
    expect(after.directory.readUInt16LE(small.recordStart + 6)).toBe(isWide ? 45 : 10);
    // The directory is behind 4 GiB in any case.
    expect(after.end.zip64).toHaveLength(56);
    expect(after.end.record.readUInt32LE(16)).toBe(0xffffffff);

    const reading = await readSparse(`${beyond}.zip`, patched);
    const places = after.entries.map(({ name, offset, size }) => ({ name, offset, size }));
    expect(reading?.entries.map(({ name, offset, size }) => ({ name, offset, size }))).toEqual(places);
  });

  it.each([
    [-2, false],
    [-1, true],
  ])('of the directory alone make a ZIP64 end record, and no ZIP64 field: 4 GiB %i, %s', async (beyond, isWide) => {
    const behind = FOUR_GIB + beyond - (30 + 'small'.length + CONTENTS.length) - (await movedBy());
    const { after } = await grown(hugeArchive(behind));
    expect(after.end.directoryOffset).toBe(FOUR_GIB + beyond);
    expect(after.end.zip64 !== undefined).toBe(isWide);
    const { recordStart, recordEnd } = entryNamed(after, 'small');
    expect(recordEnd - recordStart).toBe(46 + 'small'.length);
  });

  it('join sizes in a ZIP64 field that is there already', async () => {
    const { before, after, patched } = await grown(
      hugeArchive(FOUR_GIB - 100, { zip64: { central: ['size', 'compressedSize'] } }),
    );
    const [old, now] = [entryNamed(before, 'small'), entryNamed(after, 'small')];
    expect(now).toMatchObject({ size: CONTENTS.length, compressedSize: CONTENTS.length });
    expect(now.offset).toBeGreaterThan(FOUR_GIB);
    expect(now.recordEnd - now.recordStart).toBe(old.recordEnd - old.recordStart + 8);
    const field = now.recordStart + 46 + 'small'.length;
    expect(after.directory.readUInt16LE(field + 2)).toBe(24);
    expect(Number(after.directory.readBigUInt64LE(field + 4 + 16))).toBe(now.offset);
    const reading = await readSparse('sizes.zip', patched);
    expect(reading?.entries.map(({ offset }) => offset)).toEqual(after.entries.map(({ offset }) => offset));
  });

  it('stay 64 bits wide where an archive becomes smaller again, and lead to the same records', async () => {
    const { patched, after } = await grown(hugeArchive(FOUR_GIB - 100));
    const remove = new Set(ADDED_NAMES.map((name) => entryNamed(after, name)));
    const archive = await readArchive(patchedSource(patched, editArchive(after, { remove, first: [] })));
    expect(entryNamed(archive, 'small').offset).toBe(FOUR_GIB - 100);
    expect(archive.end.zip64).toHaveLength(56);
  });

  it('have no place in a record that is full: the archive is rejected', async () => {
    const extra = { central: extraField(0xcafe, Buffer.alloc(0xffff - 46 - 'small'.length - 4)) };
    await expect(grown(hugeArchive(FOUR_GIB - 100, { extra }))).rejects.toMatchObject({ code: 'zip-unsupported' });
  });
});

/** Throws for a read of more than a reader of headers ever requests. */
function zeros(size: number): ByteSource {
  const read = async (length: number) => {
    if (length > 16 * 1024 * 1024) throw new RangeError(`a read of ${length} bytes`);
    return Buffer.alloc(length);
  };
  return {
    size,
    read: async (_offset, length) => await read(length),
    async *stream(start = 0, end = size) {
      yield await read(end - start);
    },
  };
}
