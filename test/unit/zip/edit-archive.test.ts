/** Changing an archive: what was not touched stays byte for byte, and our reader, Python and unzip read the result. */

import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deflatedEntry, type NewEntry, storedEntry } from '../../../src/zip/write-records.ts';
import { folderForAll } from '../../support/set-up.ts';
import { run } from '../../system/interop/verifiers.ts';
import { edited, type NamedChange, recordsOf } from './support/editing.ts';
import { readByPython } from './support/python.ts';
import { contentsOf, entryNamed, read } from './support/reading.ts';
import { type ArchiveParts, buildZip, deflated, extraField, stored } from './support/zip-builder.ts';

const folder = folderForAll();

const LAUNCHER = '#!/bin/sh\nexec java -jar "$0" "$@"\n';
const ADDED: readonly NewEntry[] = [
  deflatedEntry('META-INF/ADDED.MF', Buffer.from('Manifest-Version: 1.0\r\n'.repeat(20))),
  storedEntry('META-INF/ADDED.RSA', Buffer.from('signature')),
];
const ADDED_NAMES = ADDED.map(({ name }) => name);
const ENTRIES = [
  stored('a.txt'),
  deflated('b.txt', { descriptor: 'signed', comment: 'of b', mode: 0o100755 }),
  stored('c.txt', { extra: { local: extraField(0xcafe, 'l'), central: extraField(0xbeef, 'c') } }),
  deflated('d.txt', { zip64: { local: ['size', 'compressedSize'], central: ['size', 'compressedSize', 'offset'] } }),
  stored('e/'),
  deflated('e/f.txt', { descriptor: 'bare64' }),
];
const NAMES = ENTRIES.map(({ name }) => String(name));
const zip = (about: Partial<ArchiveParts> = {}): Buffer => buildZip({ entries: ENTRIES, ...about });

/** What else than its entries an archive can be made of. */
const SURROUNDINGS: [string, Partial<ArchiveParts>][] = [
  ['nothing around it', {}],
  ['a preamble that offsets count', { preamble: LAUNCHER }],
  ['a preamble that offsets do not count', { preamble: LAUNCHER, offsets: 'archive' }],
  ['ZIP64', { zip64: true }],
  ['ZIP64 and a preamble that offsets count', { zip64: true, preamble: LAUNCHER }],
  ['ZIP64 and a preamble that offsets do not count', { zip64: true, preamble: LAUNCHER, offsets: 'archive' }],
  ['a comment and bytes behind it', { comment: 'Built by hand.', trailing: '\n\n' }],
  ['records in another order', { localOrder: [4, 1, 5, 0, 2, 3] }],
  ['unused bytes before its directory', { gap: 'unused' }],
];

const CHANGES: [string, NamedChange][] = [
  ['adding', { add: ADDED }],
  ['removing the first', { remove: ['a.txt'] }],
  ['removing neighbours', { remove: ['b.txt', 'c.txt'] }],
  ['removing and adding', { remove: ['d.txt', 'a.txt'], add: ADDED }],
  ['moving', { move: ['e/', 'd.txt'] }],
  ['moving before what is added, and removing', { move: ['e/'], add: ADDED, remove: ['a.txt', 'e/f.txt'] }],
  ['changing nothing', {}],
  ['removing all and adding', { remove: NAMES, add: ADDED }],
];

async function saved(bytes: Buffer): Promise<string> {
  const path = join(folder, `${createHash('sha256').update(bytes).digest('hex')}.zip`);
  await writeFile(path, bytes);
  return path;
}

async function ownDigests(bytes: Buffer): Promise<ReadonlyMap<string, string>> {
  const contents = [...(await contentsOf(bytes))];
  return new Map(contents.map(([name, text]) => [name, createHash('sha256').update(text, 'latin1').digest('hex')]));
}

describe.each(SURROUNDINGS)('an archive with %s', (_, about) => {
  const original = zip(about);

  it.each(CHANGES)('keeps every other record by %s', async (_what, change) => {
    const before = await read(original);
    const result = await edited(original, change);
    const after = await read(result);

    const first = [...(change.move ?? []), ...(change.add ?? []).map(({ name }) => name)];
    const staying = NAMES.filter((name) => !first.includes(name) && change.remove?.includes(name) !== true);
    expect(after.entries.map(({ name }) => name)).toEqual([...first, ...staying]);
    expect(after.inFile.slice(0, first.length).map(({ name }) => name)).toEqual(first);

    const kept = (records: ReturnType<typeof recordsOf>) =>
      new Map(records.filter(({ name }) => NAMES.includes(name)).map((record) => [record.name, record]));
    const [old, now] = [kept(recordsOf(original, before)), kept(recordsOf(result, after))];
    for (const [name, record] of now) {
      // Whose offset is in a ZIP64 field has it at the end of that, and of the record.
      const withoutOffset = ({ central }: { central: string }) => (name === 'd.txt' ? central.slice(0, -8) : central);
      expect({ ...record, central: withoutOffset(record) }).toEqual({
        ...old.get(name),
        central: withoutOffset(old.get(name) ?? record),
      });
    }
    expect(now.size).toBe(staying.length + (change.move ?? []).length);
  });

  it('keeps what is around the entries, and what offsets count from', async () => {
    const before = await read(original);
    const result = await edited(original, { add: ADDED, remove: ['a.txt'] });
    const after = await read(result);
    expect(after.end).toMatchObject({ base: before.end.base, trailingLength: before.end.trailingLength });
    expect(after.start).toBe(before.start);
    expect(result.subarray(0, after.start).equals(original.subarray(0, before.start))).toBe(true);
    const behind = before.end.recordOffset + 22;
    expect(result.subarray(after.end.recordOffset + 22).equals(original.subarray(behind))).toBe(true);
    expect(after.end.zip64 === undefined).toBe(before.end.zip64 === undefined);
    const gap = String(about.gap ?? '');
    expect(result.toString('latin1', after.inFile.at(-1)?.end, after.end.directoryOffset)).toBe(gap);
  });

  it('becomes the same by adding the same again, and has its own entries again once the others are removed', async () => {
    const once = await edited(original, { add: ADDED });
    expect((await edited(once, { remove: ADDED_NAMES, add: ADDED })).equals(once)).toBe(true);
    const back = await edited(once, { remove: ADDED_NAMES });
    expect(recordsOf(back, await read(back))).toEqual(recordsOf(original, await read(original)));
  });
});

describe.each(SURROUNDINGS)('new entries behind others, in an archive with %s', (_, about) => {
  const original = zip(about);
  const item = (name: string): NewEntry => storedEntry(name, Buffer.from(`contents of ${name}`));
  const LAST: NamedChange = { remove: ['c.txt'], behind: { 'e/f.txt': item('N'), 'c.txt': item('M') } };
  const both = { 'a.txt': item('A'), 'b.txt': item('B') };
  const NEIGHBOURS: NamedChange = { remove: ['a.txt', 'b.txt', 'c.txt'], behind: both };
  const FIRST: NamedChange = { add: ADDED, remove: ['a.txt', 'e/'], behind: { 'a.txt': item('A') } };
  const BEHIND: [what: string, NamedChange, directory: string][] = [
    ['one', { behind: { 'b.txt': item('N') } }, 'a.txt b.txt N c.txt d.txt e/ e/f.txt'],
    ['the last, and in the place of one', LAST, 'a.txt b.txt M d.txt e/ e/f.txt N'],
    ['neighbours that leave, in their places', NEIGHBOURS, 'A B d.txt e/ e/f.txt'],
    ['one while others come first', FIRST, `${ADDED_NAMES.join(' ')} A b.txt c.txt d.txt e/f.txt`],
  ];

  it.each(BEHIND)('keep every other record and the order: %s', async (_what, change, names) => {
    const before = await read(original);
    const result = await edited(original, change);
    const after = await read(result);
    expect(after.entries.map(({ name }) => name).join(' ')).toBe(names);
    const old = new Map(recordsOf(original, before).map(({ name, local }) => [name, local]));
    for (const { name, local } of recordsOf(result, after)) {
      if (old.has(name)) expect(local).toBe(old.get(name));
      else if (!ADDED_NAMES.includes(name)) expect(local).toContain(`contents of ${name}`);
    }
    const inFile = (about.localOrder ?? [0, 1, 2, 3, 4, 5]).map((index) => NAMES[index] ?? '');
    const expected = inFile.flatMap((name) => {
      const follower = change.behind?.[name]?.name;
      return [...(change.remove?.includes(name) ? [] : [name]), ...(follower === undefined ? [] : [follower])];
    });
    expect(after.inFile.map(({ name }) => name).filter((name) => !ADDED_NAMES.includes(name))).toEqual(expected);
  });

  it('are removed again, and nothing else', async () => {
    const once = await edited(original, { behind: { 'b.txt': item('N'), 'e/': item('M') } });
    const back = await edited(once, { remove: ['N', 'M'] });
    expect(recordsOf(back, await read(back))).toEqual(recordsOf(original, await read(original)));
  });
});

const EMPTY = [{}, { preamble: LAUNCHER }, { preamble: LAUNCHER, offsets: 'archive' }, { zip64: true }] as const;

it.each(EMPTY)('an empty archive takes entries, and gives them back: %o', async (about) => {
  const empty = buildZip({ entries: [], ...about });
  const filled = await edited(empty, { add: ADDED });
  expect([...(await ownDigests(filled)).keys()]).toEqual(ADDED_NAMES);
  expect((await edited(filled, { remove: ADDED_NAMES })).equals(empty)).toBe(true);
});

describe('Python', () => {
  it('reads the same contents as we do from every changed archive', async () => {
    const filled = EMPTY.map((about) => edited(buildZip({ entries: [], ...about }), { add: ADDED }));
    const changed = SURROUNDINGS.flatMap(([, about]) => CHANGES.map(([, change]) => edited(zip(about), change)));
    const results = await Promise.all([...filled, ...changed]);
    const readings = await readByPython(await Promise.all(results.map(saved)));
    for (const [index, { entries }] of readings.entries()) {
      const found = new Map(entries.map(({ name, sha256 }) => [name, sha256]));
      expect(found).toEqual(await ownDigests(results[index] ?? Buffer.alloc(0)));
    }
  });
});

it.each(SURROUNDINGS.filter(([, { offsets }]) => offsets !== 'archive'))(
  'unzip finds no error in a changed archive with %s',
  async (_, about) => {
    // It warns of bytes around the archive, and ends with another code then.
    const result = await edited(zip(about), { add: ADDED, remove: ['a.txt'] });
    const { output } = await run('unzip', ['-t', await saved(result)]);
    expect(output).toContain('No errors detected in compressed data');
  },
);

describe('a ZIP64 field that holds the offset', () => {
  it.each([
    ...([[['offset']], [['size', 'offset']], [['compressedSize', 'offset']]] as const),
    [['size', 'compressedSize', 'offset']],
  ] as const)('is changed where it is, with what else is there: %s', async (central) => {
    const extra = { central: Buffer.concat([extraField(0xcafe, 'behind')]) };
    const original = buildZip({ entries: [deflated('x', { contents: 'x'.repeat(99), zip64: { central }, extra })] });
    const result = await edited(original, { add: ADDED });
    const [before, after] = [await read(original), await read(result)];
    const { recordStart, recordEnd, offset } = entryNamed(after, 'x');
    expect(offset).toBe(after.inFile[2]?.offset);
    expect(after.directory.readUInt32LE(recordStart + 42)).toBe(0xffffffff);
    const place = 46 + 1 + 4 + (central.length - 1) * 8;
    const record = Buffer.from(after.directory.subarray(recordStart, recordEnd));
    expect(Number(record.readBigUInt64LE(place))).toBe(offset);
    record.writeBigUInt64LE(0n, place);
    expect(record.equals(before.directory)).toBe(true);
  });

  it('keeps the number of the disk after it', async () => {
    // Java opens no archive whose field has a disk and not all of the others.
    const field = Buffer.concat([Buffer.of(1, 0, 28, 0), Buffer.alloc(28)]);
    const original = buildZip({
      entries: [stored('x', { extra: { central: field }, central: { offset: 0xffffffff } })],
    });
    const record = original.subarray(original.indexOf('PK\x01\x02', 0, 'latin1'));
    record.copy(record, 46 + 1 + 4, 24, 28);
    record.copy(record, 46 + 1 + 4 + 8, 20, 24);
    record.fill(0xff, 20, 28).fill(0xff, 34, 36);
    const after = await read(await edited(original, { add: ADDED }));
    expect(after.directory.subarray(-4)).toEqual(Buffer.alloc(4));
    expect(entryNamed(after, 'x').offset).toBe(after.inFile[2]?.offset);
  });
});
