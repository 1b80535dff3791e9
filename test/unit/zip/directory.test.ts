/** The directory: its records, their ZIP64 fields, and the names and flags that are rejected. */

import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { readArchive } from '../../../src/zip/archive.ts';
import { countingSource, entryNamed, namesOrCode, read, refusal, u64 } from './support/reading.ts';
import { buildZip, deflated, type EntryParts, extraField, stored } from './support/zip-builder.ts';

const DIRECTORY_RECORD = 'PK\x01\x02';
const one = (entry: EntryParts): Buffer => buildZip({ entries: [stored('first.txt'), entry] });
function changedRecord(bytes: Buffer, change: (record: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy.subarray(copy.lastIndexOf(DIRECTORY_RECORD, undefined, 'latin1')));
  return copy;
}

describe('a directory record', () => {
  it.each<[string, string, (record: Buffer) => void]>([
    ['begins with something else', 'zip-malformed', (record) => record.write('PK\x05\x01', 'latin1')],
    ['says a name longer than the directory', 'zip-malformed', (record) => record.writeUInt16LE(0xffff, 28)],
    ['says extra fields longer than the directory', 'zip-malformed', (record) => record.writeUInt16LE(1, 30)],
    ['says a comment longer than the directory', 'zip-malformed', (record) => record.writeUInt16LE(9, 32)],
    ['says a name shorter than it is', 'zip-malformed', (record) => record.writeUInt16LE(1, 28)],
    ['is on another disk', 'zip-unsupported', (record) => record.writeUInt16LE(1, 34)],
    ['has an encrypted entry', 'zip-unsupported', (record) => record.writeUInt16LE(1, 8)],
    ['has an entry of patch data', 'zip-unsupported', (record) => record.writeUInt16LE(1 << 5, 8)],
    ['has a strongly encrypted entry', 'zip-unsupported', (record) => record.writeUInt16LE(1 << 6, 8)],
    ['has a masked header', 'zip-unsupported', (record) => record.writeUInt16LE(1 << 13, 8)],
    ['has a method that is not known', 'zip-unsupported', (record) => record.writeUInt16LE(93, 10)],
    ['has two sizes of a stored entry', 'zip-ambiguous', (record) => record.writeUInt32LE(1, 24)],
  ])('is rejected where it %s', async (_, code, change) => {
    expect(await namesOrCode(changedRecord(one(stored('b.txt')), change))).toBe(code);
  });

  it('is rejected where the directory is cut off in its fixed part', async () => {
    const bytes = one(stored('b.txt'));
    const end = bytes.length - 22;
    const cut = Buffer.concat([bytes.subarray(0, end - 20), bytes.subarray(end)]);
    cut.writeUInt32LE(cut.readUInt32LE(cut.length - 10) - 20, cut.length - 10);
    expect(await namesOrCode(cut)).toBe('zip-malformed');
  });

  it('may have flags and versions that say nothing about reading', async () => {
    const bytes = changedRecord(one(stored('b.txt', { flags: 0x0806 })), (record) => record.writeUInt16LE(0x033f, 4));
    expect(await namesOrCode(bytes)).toEqual(['first.txt', 'b.txt']);
  });
});

describe('the ZIP64 field of a directory record', () => {
  it.each([
    ...([[['size']], [['compressedSize']], [['offset']]] as const),
    ...([[['compressedSize', 'offset']], [['size', 'compressedSize', 'offset']]] as const),
  ] as const)('gives just the values whose fields say so: %s', async (moved) => {
    const plain = await read(one(deflated('b.txt', { contents: 'x'.repeat(100) })));
    const moving = await read(one(deflated('b.txt', { contents: 'x'.repeat(100), zip64: { central: moved } })));
    const { size, compressedSize, offset } = entryNamed(plain, 'b.txt');
    expect(entryNamed(moving, 'b.txt')).toMatchObject({ size, compressedSize, offset });
  });

  it('gives the disk', async () => {
    const onDisk = (disk: number): Buffer => {
      const extra = { central: extraField(1, Buffer.alloc(28)) };
      return changedRecord(one(stored('b.txt', { extra })), (record) => {
        const values = u64(record.readUInt32LE(24), record.readUInt32LE(20), record.readUInt32LE(42));
        Buffer.concat([values, Buffer.of(disk)]).copy(record, 46 + 'b.txt'.length + 4);
        record.fill(0xff, 20, 28).fill(0xff, 34, 36).fill(0xff, 42, 46);
      });
    };
    expect(await namesOrCode(onDisk(0))).toEqual(['first.txt', 'b.txt']);
    expect(await namesOrCode(onDisk(2))).toBe('zip-unsupported');
  });

  it('is rejected where it is missing or empty', async () => {
    for (const extra of [{}, { central: extraField(1, Buffer.alloc(0)) }]) {
      const bytes = changedRecord(one(stored('b.txt', { extra })), (record) => record.fill(0xff, 24, 28));
      expect(await refusal(bytes)).toMatch(/^zip-malformed: .*b\.txt has no ZIP64 field/);
    }
  });

  it.each([1, 4, 7, 12, 20, 32])('is rejected with a length of %i, as in Java', async (length) => {
    const bytes = one(stored('b.txt', { extra: { central: extraField(1, Buffer.alloc(length)) } }));
    expect(await refusal(bytes)).toMatch(/^zip-malformed: .*b\.txt has a ZIP64 field of (1 byte|\d+ bytes), at byte/);
  });

  it('says nothing where no field requests it, and is not looked for in less than a header', async () => {
    for (const central of [extraField(1, u64(1, 2, 3)), Buffer.of(1, 2, 3)]) {
      const bytes = one(stored('b.txt', { extra: { central } }));
      expect(entryNamed(await read(bytes), 'b.txt').size).toBe('This is b.txt.\n'.length);
    }
  });
});

it.each<[string, Buffer]>([
  ['the only one', Buffer.of(1, 0, 50, 0, 7)],
  ['one before another', Buffer.concat([Buffer.of(9, 9, 200, 0), extraField(1, u64(22))])],
])('an extra field that is cut off, %s, is rejected: Java opens no such archive', async (_, central) => {
  expect(await refusal(one(stored('b.txt', { extra: { central } })))).toMatch(/^zip-malformed: .*b\.txt/);
});

describe('the name of an entry', () => {
  it('may contain spaces, dots, colons and characters beyond ASCII', async () => {
    for (const name of ['folder/', 'a b.txt', 'Grüße/日本/🎈.txt', '..a/b..', 'a/.../b', 'tab\there', 'C:x'])
      expect(await namesOrCode(one(stored(name, { contents: '' })))).toEqual(['first.txt', name]);
  });

  it('is rejected if it leads out of the archive, or contains line breaks or NUL', async () => {
    for (const name of ['..', '../a', 'a/..', 'a/../b', '..\\a', 'a\\..\\b', 'a\nb', 'a\rb', 'a\0b'])
      expect(await namesOrCode(one(stored(name)))).toBe('zip-name-refused');
  });

  it.each([
    ['Latin 1', Buffer.from('Gr\xfc\xdfe.txt', 'latin1')],
    ['overlong dots', Buffer.of(0xc0, 0xae, 0xc0, 0xae, 0x2f)],
  ])('is rejected where it is not UTF-8: %s', async (_, name) => {
    expect(await namesOrCode(one({ ...stored('x'), name }))).toBe('zip-name-refused');
  });

  it('is read as UTF-8 whether or not the flag says so, and is rejected where it comes twice', async () => {
    expect(await namesOrCode(one(stored('Grüße', { flags: 0 })))).toEqual(['first.txt', 'Grüße']);
    expect(await refusal(one(stored('first.txt')))).toMatch(/^zip-ambiguous: .*two entries first\.txt/);
  });

  it('is rejected if its record is longer than Java reads, and reported in a few characters', async () => {
    const longest = 'n'.repeat(0xffff - 46);
    expect(await namesOrCode(one(stored(longest, { contents: '' })))).toEqual(['first.txt', longest]);
    const message = await refusal(one(stored(`${longest}n`, { contents: '' })));
    expect(message).toMatch(/^zip-name-refused/);
    expect(message.length).toBeLessThan(500);
  });
});

it('the directory is read where it has 128 MiB, and not where it is larger', async () => {
  const largest = 128 * 1024 * 1024;
  for (const [size, code] of [
    [largest, 'zip-malformed'],
    [largest + 1, 'zip-unsupported'],
  ] as const) {
    const bytes = Buffer.alloc(size + 22);
    bytes.write(DIRECTORY_RECORD, 'latin1');
    const end = buildZip({ entries: [stored('a')] }).subarray(-22);
    end.writeUInt32LE(size, 12);
    end.writeUInt32LE(0, 16);
    bytes.set(end, size);
    const source = countingSource(memorySource(bytes));
    await expect(readArchive(source)).rejects.toMatchObject({ code });
    expect(source.counted() >= size).toBe(size === largest);
  }
});
