/** The records in the file: they say what the directory says, stand next to each other, and nothing hides between them. */

import { describe, expect, it } from 'vitest';
import { entryNamed, namesOrCode, read, refusal, u64 } from './support/reading.ts';
import { buildZip, deflated, type EntryParts, extraField, localRecord, stored } from './support/zip-builder.ts';

const between = (entry: EntryParts): Buffer => buildZip({ entries: [stored('before'), entry, stored('behind')] });
const NAMES = ['before', 'x', 'behind'];

describe('a local header', () => {
  it.each<[string, EntryParts]>([
    ['another name', stored('x', { local: { name: 'y' } })],
    ['another compression method', stored('x', { local: { method: 8 } })],
    ['another encryption flag', stored('x', { local: { flags: 1 } })],
    ['another CRC-32', stored('x', { local: { crc: 1 } })],
    ['other sizes', deflated('x', { local: { size: 1 } })],
    ['other sizes', deflated('x', { local: { compressedSize: 1 } })],
    ['other sizes', stored('x', { local: { size: 0xffffffff } })],
    ['other sizes', stored('x', { local: { size: 0xffffffff }, extra: { local: extraField(1, u64(1)) } })],
    ['other sizes', stored('x', { local: { size: 0xffffffff }, extra: { local: extraField(1, Buffer.alloc(7)) } })],
  ])('is rejected as ambiguous with %s', async (what, entry) => {
    const message = await refusal(between(entry));
    expect(message).toMatch(/^zip-ambiguous/);
    expect(message).toContain(what);
  });

  it.each<[string, EntryParts]>([
    ['its own extra fields', stored('x', { extra: { local: extraField(0xcafe, 'mine') } })],
    ['malformed extra fields', stored('x', { extra: { local: Buffer.of(1, 0, 99, 0) } })],
    ['both sizes in its ZIP64 field', stored('x', { zip64: { local: ['size', 'compressedSize'] } })],
    ['one size in its ZIP64 field', stored('x', { zip64: { local: ['size'] } })],
    ['the other size in its ZIP64 field', deflated('x', { zip64: { local: ['compressedSize'] } })],
    ['a ZIP64 field that nothing asks for', stored('x', { extra: { local: extraField(1, u64(7, 7)) } })],
  ])('may have %s', async (_, entry) => {
    expect(await namesOrCode(between(entry))).toEqual(NAMES);
  });

  it('is rejected where none is, or where the file or the directory cuts it off', async () => {
    const directory = buildZip({ entries: [stored('x')] }).indexOf('PK\x01\x02', 0, 'latin1');
    for (const offset of [1, directory - 29, directory, 0xfffffffe]) {
      const bytes = buildZip({ entries: [stored('x', { central: { offset } })] });
      expect(await refusal(bytes)).toMatch(/^zip-malformed: .*points to byte/);
    }
  });

  it('is rejected where its name or its data would reach into the directory', async () => {
    const bytes = buildZip({ entries: [stored('x', { contents: 'abc' })] });
    const longName = Buffer.from(bytes);
    longName.writeUInt16LE(5000, 26);
    expect(await refusal(longName)).toMatch(/^zip-malformed: .*but the directory begins/);
    const longData = Buffer.from(bytes);
    const record = longData.indexOf('PK\x01\x02', 0, 'latin1');
    for (const at of [18, 22]) longData.writeUInt32LE(4, at);
    for (const at of [20, 24]) longData.writeUInt32LE(4, record + at);
    expect(await refusal(longData)).toMatch(/^zip-malformed: .*but the directory begins/);
  });

  it('is rejected before one that leads after the directory, where its descriptor would be there too', async () => {
    const astray = stored('astray', { offset: () => 0x7ffffff0 });
    const entry = deflated('x', { descriptor: 'signed', central: { compressedSize: 500 } });
    expect(await refusal(buildZip({ entries: [entry, astray] }))).toMatch(/^zip-malformed/);
  });

  it('is compared however far it is from the one before', async () => {
    const far = stored('far', { gap: Buffer.alloc(300_000) });
    const long = stored('n'.repeat(60_000), { extra: { local: extraField(7, Buffer.alloc(60_000)) } });
    const good = buildZip({
      entries: [stored('a'), far, long, stored('b', { contents: Buffer.alloc(300_000) }), stored('c')],
    });
    expect(await namesOrCode(good)).toHaveLength(5);
    const bad = buildZip({
      entries: [stored('a'), far, long, { ...long, name: 'm'.repeat(60_000), local: { name: 'o'.repeat(60_000) } }],
    });
    expect(await namesOrCode(bad)).toBe('zip-ambiguous');
  });
});

describe('a data descriptor', () => {
  const LENGTHS = { bare: 12, signed: 16, bare64: 20, signed64: 24 } as const;
  const kinds = Object.keys(LENGTHS) as (keyof typeof LENGTHS)[];
  const lengthIn = async (bytes: Buffer): Promise<number> => {
    const { end, dataOffset, compressedSize } = entryNamed(await read(bytes), 'x');
    return end - dataOffset - compressedSize;
  };

  describe.each(kinds)('of the kind %s', (descriptor) => {
    it.each<[string, EntryParts]>([
      ['a deflated entry', deflated('x', { descriptor })],
      ['a stored entry', stored('x', { descriptor })],
      ['an empty entry', stored('x', { contents: '', descriptor })],
      ['an empty deflated entry', deflated('x', { contents: '', descriptor })],
      ['an entry that has its signature as CRC-32', stored('x', { crc: 0x08074b50, descriptor })],
    ])('ends the record of %s', async (_, entry) => {
      expect(await lengthIn(between(entry))).toBe(LENGTHS[descriptor]);
      expect(await lengthIn(buildZip({ entries: [entry] }))).toBe(LENGTHS[descriptor]);
    });

    it('is distinguished from unused bytes after it', async () => {
      const bytes = buildZip({ entries: [deflated('x', { descriptor }), stored('b', { gap: 'unused bytes' })] });
      expect(await lengthIn(bytes)).toBe(LENGTHS[descriptor]);
    });

    it.each(['crc', 'size', 'compressedSize'] as const)('is rejected with another %s', async (field) => {
      const bytes = between(deflated('x', { descriptor }));
      const { end } = entryNamed(await read(bytes), 'x');
      const wide = descriptor.endsWith('64');
      const back = { crc: wide ? 20 : 12, compressedSize: wide ? 16 : 8, size: wide ? 8 : 4 }[field];
      bytes.writeUInt8((bytes[end - back] ?? 0) ^ 1, end - back);
      expect(await refusal(bytes)).toMatch(/^zip-ambiguous: .*descriptor/);
    });
  });

  it.each([
    ['bare', 8, 20],
    ['bare', 7, 12],
    ['signed', 8, 24],
    ['signed', 9, 16],
  ] as const)(
    '(%s) of an empty entry with %i zeros after it ends where the next record begins, or is the shorter one',
    async (descriptor, zeros, length) => {
      const entries = [stored('x', { contents: '', descriptor }), stored('b', { gap: Buffer.alloc(zeros) })];
      expect(await lengthIn(buildZip({ entries }))).toBe(length);
    },
  );

  it('is rejected where there is no room for it', async () => {
    const bytes = between(stored('x', { local: { flags: 8 } }));
    expect(await refusal(bytes)).toMatch(/^zip-ambiguous: .*descriptor/);
    const last = buildZip({ entries: [stored('x', { local: { flags: 8 } })] });
    expect(await refusal(last)).toMatch(/^zip-ambiguous: .*descriptor/);
  });
});

describe('the places of records', () => {
  it.each([1, 3, 4, 23])('may have %i unused bytes between them and before the directory', async (length) => {
    const gap = Buffer.alloc(length, 'PK');
    const archive = await read(buildZip({ entries: [stored('a'), stored('b', { gap })], gap }));
    const [a, b] = archive.inFile;
    expect((b?.offset ?? 0) - (a?.end ?? 0)).toBe(length);
    expect(archive.end.directoryOffset - (b?.end ?? 0)).toBe(length);
  });

  const hidden = localRecord(stored('hidden'));
  it.each<[string, Buffer]>([
    ['at the beginning', buildZip({ entries: [stored('hidden', { hidden: true }), stored('a')] })],
    ['in the middle', buildZip({ entries: [stored('a'), stored('hidden', { hidden: true }), stored('b')] })],
    ['before the directory', buildZip({ entries: [stored('a')], gap: hidden })],
    ['as nothing but a signature', buildZip({ entries: [stored('a')], gap: 'PK\x03\x04' })],
    ['behind a data descriptor', buildZip({ entries: [deflated('a', { descriptor: 'signed' })], gap: hidden })],
    ['in an archive that says it is empty', buildZip({ entries: [stored('a', { hidden: true })] })],
  ])('are rejected as ambiguous with one that the directory does not name: %s', async (_, bytes) => {
    expect(await refusal(bytes)).toMatch(/^zip-ambiguous: .*does not list/);
  });

  it('may follow a record that does not belong to the archive, where a reader from the beginning fails', async () => {
    const preamble = Buffer.concat([Buffer.of(0), hidden]);
    expect(await namesOrCode(buildZip({ entries: [stored('a')], preamble }))).toEqual(['a']);
  });

  it.each<[string, (offsetOf: readonly number[]) => number]>([
    ['the record of another', (offsetOf) => offsetOf[0] ?? 0],
    ['the data of another', (offsetOf) => (offsetOf[0] ?? 0) + 30 + 'outer'.length],
  ])('are rejected as ambiguous where one is in %s', async (_, offset) => {
    const inner = stored('outer', { contents: 'inner' });
    const entries = [
      stored('outer', { contents: localRecord(inner) }),
      { ...inner, name: 'inner', local: { name: 'outer' }, offset },
    ];
    expect(await namesOrCode(buildZip({ entries }))).toBe('zip-ambiguous');
  });

  it('are rejected as ambiguous where one ends in the header of the next', async () => {
    const size = 'This is a.\n'.length + 1;
    const entries = [stored('a', { size, compressedSize: size }), stored('b')];
    expect(await refusal(buildZip({ entries }))).toMatch(/^zip-ambiguous: .*overlaps/);
  });
});
