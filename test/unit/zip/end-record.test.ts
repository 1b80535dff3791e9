/** Where an archive ends: the one end record that counts, whatever looks like one around it, and its ZIP64 companion. */

import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { endsLikeArchive, findEndOfArchive } from '../../../src/zip/end-record.ts';
import { countingSource, namesOrCode, read, refusal } from './support/reading.ts';
import { type ArchiveParts, buildZip, stored } from './support/zip-builder.ts';

const END_RECORD = 'PK\x05\x06';
const LAUNCHER = '#!/bin/sh\nexec java -jar "$0"\n';
const zip = (about: Partial<ArchiveParts> = {}): Buffer =>
  buildZip({ entries: [stored('a.txt'), stored('b.txt')], ...about });
const NAMES = ['a.txt', 'b.txt'];

/** An end record and nothing before it. */
const endRecord = ({ count = 0, size = 0, offset = 0 } = {}): Buffer =>
  buildZip({ entries: [], end: { count, diskCount: count, directorySize: size, directoryOffset: offset } });

const EMPTY_AND_ONE = Buffer.concat([endRecord(), Buffer.of(1)]);

function changed(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  return copy;
}

describe('the end record', () => {
  it.each<[string, Buffer]>([
    ['no comment', zip()],
    ['a comment', zip({ comment: 'Built by hand.' })],
    ['the longest comment', zip({ comment: 'x'.repeat(0xffff) })],
    ['a comment that only begins like an end record', zip({ comment: `${END_RECORD}` })],
    ['an empty archive in the comment, with bytes after it', zip({ comment: EMPTY_AND_ONE })],
    ['bytes after it', zip({ trailing: '\n\n\n' })],
  ])('is found with %s', async (_, bytes) => {
    expect(await namesOrCode(bytes)).toEqual(NAMES);
  });

  it.each<[string, Buffer]>([
    ['in the comment', zip({ comment: endRecord({ count: 3, size: 150, offset: 9 }) })],
    ['among the bytes after it', zip({ trailing: endRecord({ count: 1, size: 60 }) })],
  ])('decides where it ends with the file, although it leads nowhere: %s', async (_, bytes) => {
    expect(await refusal(bytes)).toMatch(/^zip-malformed/);
  });

  it('is the outer one where the last entry is a stored archive', async () => {
    const inner = buildZip({ entries: [stored('inner.txt')], comment: 'inner' });
    for (const about of [{}, { comment: 'Built by hand.' }, { trailing: 'bytes' }, { zip64: true }, { gap: 'a gap' }]) {
      const bytes = buildZip({ entries: [stored('a.txt'), stored('inner.jar', { contents: inner })], ...about });
      expect(await namesOrCode(bytes)).toEqual(['a.txt', 'inner.jar']);
    }
  });

  it('is the outer one where an archive in an archive says that its comment reaches to the end of the file', async () => {
    const inner = (comment: number) =>
      changed(buildZip({ entries: [stored('inner.txt')] }), (copy) => copy.writeUInt16LE(comment, copy.length - 2));
    const outer = (comment: number) => buildZip({ entries: [stored('inner.jar', { contents: inner(comment) })] });
    const bytes = outer(0);
    const reach = bytes.length - (bytes.indexOf(END_RECORD, 0, 'latin1') + 22);
    expect(await namesOrCode(outer(reach))).toEqual(['inner.jar']);
  });

  const another = buildZip({ entries: [stored('c.txt')] });
  const directory = zip().indexOf('PK\x01\x02', 0, 'latin1');
  const own = endRecord({ count: 2, size: zip().length - 22 - directory, offset: directory });

  it.each<[string, Buffer]>([
    ['is in the comment', zip({ comment: another })],
    ['follows it', zip({ trailing: another })],
    // In the comment of the last entry: it takes the records before it for its own directory.
    ['stands in the directory', zip({ entries: [stored('a.txt'), stored('b.txt', { comment: own })] })],
  ])('is rejected as ambiguous where another one that leads to a directory %s', async (_, bytes) => {
    expect(await refusal(bytes)).toMatch(/^zip-ambiguous/);
  });

  it('is rejected as ambiguous before one that leads to a directory, whatever disk, counts, offset or comment that one says', async () => {
    for (const [at, value] of [
      [4, 1],
      [8, 2],
      [10, 0],
      [18, 0x7fff],
      [20, 500],
    ] as const) {
      const fake = changed(another, (copy) => copy.writeUInt16LE(value, copy.length - 22 + at));
      expect(await refusal(zip({ comment: Buffer.concat([fake, Buffer.from('..')]) }))).toMatch(/^zip-ambiguous/);
    }
  });

  it.each<[string, Partial<ArchiveParts>]>([
    ['a disk other than the first', { end: { disk: 1 } }],
    ['a directory on another disk', { end: { directoryDisk: 1 } }],
    ['only some of the entries on this disk', { end: { diskCount: 1 } }],
  ])('is rejected where it says %s', async (_, about) => {
    expect(await refusal(zip(about))).toMatch(/^zip-unsupported: .*multi-part/);
  });

  it.each<[string, Buffer]>([
    ['says more entries', zip({ end: { count: 3, diskCount: 3 } })],
    ['says no entries, but a directory', zip({ end: { count: 0, diskCount: 0 } })],
    ['says a directory one byte shorter', zip({ end: { directorySize: 101 } })],
    ['says a directory of three bytes', zip({ end: { directorySize: 3 } })],
    ['says an offset after the directory', zip({ end: { directoryOffset: 1000 } })],
    ['is cut off', zip().subarray(0, -1)],
    ['is not there', zip().subarray(0, -22)],
  ])('is rejected where it %s', async (_, bytes) => {
    expect(await refusal(bytes)).toMatch(/^zip-malformed/);
  });

  it.each([0, 1, 21])('is missing in a file of %i bytes', async (length) => {
    const bytes = Buffer.alloc(length, 'PK\x05\x06\x00', 'latin1');
    expect(await refusal(bytes)).toMatch(/^zip-malformed/);
    expect(await endsLikeArchive(memorySource(bytes))).toBe(length >= 22);
  });

  it.each<[string, Buffer, number]>([
    ['22 bytes', endRecord(), 0],
    ['a comment', buildZip({ entries: [], comment: 'abc' }), 0],
    ['something put before it later', Buffer.concat([Buffer.from(LAUNCHER), endRecord()]), LAUNCHER.length],
    ['ZIP64', buildZip({ entries: [], zip64: true }), 0],
  ])('is an archive without entries by itself: with %s', async (_, bytes, base) => {
    const archive = await read(bytes);
    expect(archive.entries).toEqual([]);
    expect(archive.start).toBe(archive.end.directoryOffset);
    expect(archive.end.base).toBe(base);
  });

  it('is rejected, not searched for, in an empty archive with bytes after it: zeros would be one anywhere', async () => {
    expect(await refusal(Buffer.concat([endRecord(), Buffer.of(0)]))).toMatch(/^zip-malformed/);
  });
});

describe('the ZIP64 end record', () => {
  const zip64 = zip({ zip64: true });
  const [record, locator] = ['PK\x06\x06', 'PK\x06\x07'].map((mark) =>
    zip64.lastIndexOf(mark, undefined, 'latin1'),
  ) as [number, number];

  it('is read, with data after its fields', async () => {
    const archive = await read(zip({ zip64: true, zip64Data: 'more data' }));
    expect(archive.entries).toHaveLength(2);
    expect(archive.end.zip64).toHaveLength(56 + 9);
  });

  it('is found by its usual length if the locator points elsewhere: data was inserted before the archive', async () => {
    const change = (copy: Buffer) => copy.fill(0xff, locator + 8, locator + 16);
    expect(await namesOrCode(changed(zip64, change))).toEqual(NAMES);
  });

  it.each<[string, RegExp, (copy: Buffer) => void]>([
    ['a locator of two disks', /^zip-unsupported/, (copy) => copy.writeUInt32LE(2, locator + 16)],
    ['a length that does not reach the locator', /^zip-malformed/, (copy) => copy.writeUInt32LE(43, record + 4)],
    ['no record where the locator leads', /^zip-malformed/, (copy) => copy.write('XX', record)],
    ['a length beyond all numbers', /^zip-malformed/, (copy) => copy.fill(0xff, record + 4, record + 12)],
    ['another number of entries', /^zip-unsupported/, (copy) => copy.writeUInt32LE(3, record + 32)],
    ['a directory larger than the file', /^zip-malformed/, (copy) => copy.writeUInt32LE(1, record + 44)],
    ['an offset beyond the file', /^zip-malformed/, (copy) => copy.writeUInt32LE(1, record + 52)],
    ['another disk', /^zip-unsupported/, (copy) => copy.writeUInt32LE(1, record + 16)],
    ['a directory on another disk', /^zip-unsupported/, (copy) => copy.writeUInt32LE(1, record + 20)],
    ['only some of the entries on this disk', /^zip-unsupported/, (copy) => copy.writeUInt32LE(1, record + 24)],
  ])('is rejected with %s', async (_, code, change) => {
    expect(await refusal(changed(zip64, change))).toMatch(code);
  });

  it('with data after its fields is not searched after a preamble that offsets do not count, as in Java', async () => {
    const bytes = zip({ zip64: true, zip64Data: 'more data', preamble: LAUNCHER, offsets: 'archive' });
    expect(await namesOrCode(bytes)).toBe('zip-malformed');
  });

  it('is rejected as ambiguous where the end record says other values, but not where it says the same', async () => {
    for (const end of [{ count: 1, diskCount: 1 }, { directorySize: 51 }, { directoryOffset: 1 }])
      expect(await refusal(zip({ zip64: true, end }))).toMatch(/^zip-ambiguous: .*differ/);
    const { directorySize, directoryOffset } = (await read(zip())).end;
    const end = { count: 2, diskCount: 2, directorySize, directoryOffset };
    expect(await namesOrCode(zip({ zip64: true, end }))).toEqual(NAMES);
  });
});

const locator = Buffer.alloc(20);
locator.write('PK\x06\x07', 'latin1');

it.each<[string, Uint8Array]>([
  ['signatures alone', Buffer.from(END_RECORD, 'latin1')],
  ['whole records', endRecord({ count: 1, size: 46 })],
  ['empty archives', endRecord()],
  ['locators that lead to the beginning', Buffer.concat([locator, endRecord({ count: 1, size: 46 })])],
])('little is read in 64 KiB of look-alikes behind a large file: %s', async (_, lookAlike) => {
  const about = { preamble: Buffer.alloc(2 * 1024 * 1024), comment: Buffer.alloc(0xffff, lookAlike) };
  const source = countingSource(memorySource(zip(about)));
  await findEndOfArchive(source).catch((thrown: unknown) => expect(thrown).toMatchObject({ category: 'local' }));
  expect(source.counted()).toBeLessThan(1024 * 1024);
});
