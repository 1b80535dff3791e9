/** Changing an archive: what was not touched stays byte for byte, and our reader and Python read the result. */

import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deflatedEntry, type NewEntry, storedEntry } from '../../../src/zip/write-records.ts';
import { folderForAll } from '../../support/set-up.ts';
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
const OWN = ADDED_NAMES.join(' ');
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

const item = (name: string): NewEntry => storedEntry(name, Buffer.from(`contents of ${name}`));

/** With the names in the directory afterwards. */
const CHANGES: [string, NamedChange, directory: string][] = [
  ['adding', { add: ADDED }, `${OWN} a.txt b.txt c.txt d.txt e/ e/f.txt`],
  ['removing neighbours', { remove: ['b.txt', 'c.txt'] }, 'a.txt d.txt e/ e/f.txt'],
  ['moving', { move: ['e/', 'd.txt'] }, 'e/ d.txt a.txt b.txt c.txt e/f.txt'],
  [
    'moving, adding and removing',
    { move: ['e/'], add: ADDED, remove: ['a.txt'] },
    `e/ ${OWN} b.txt c.txt d.txt e/f.txt`,
  ],
  ['removing all and adding', { remove: NAMES, add: ADDED }, OWN],
  [
    'one behind the last, and one in the place of another',
    { remove: ['c.txt'], behind: { 'e/f.txt': item('N'), 'c.txt': item('M') } },
    'a.txt b.txt M d.txt e/ e/f.txt N',
  ],
  [
    'replacing neighbours',
    { remove: ['a.txt', 'b.txt', 'c.txt'], behind: { 'a.txt': item('A'), 'b.txt': item('B') } },
    'A B d.txt e/ e/f.txt',
  ],
  [
    'replacing one while others come first',
    { add: ADDED, remove: ['a.txt', 'e/'], behind: { 'a.txt': item('A') } },
    `${OWN} A b.txt c.txt d.txt e/f.txt`,
  ],
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

  it.each(CHANGES)('keeps every other record by %s', async (_what, change, names) => {
    const before = await read(original);
    const result = await edited(original, change);
    const after = await read(result);
    expect(after.entries.map(({ name }) => name).join(' ')).toBe(names);

    const { move = [], add = [], remove = [], behind = {} } = change;
    const first = [...move, ...add.map(({ name }) => name)];
    const rest = before.inFile.flatMap(({ name }) => [
      ...(remove.includes(name) || first.includes(name) ? [] : [name]),
      ...(behind[name] ? [behind[name].name] : []),
    ]);
    expect(after.inFile.map(({ name }) => name)).toEqual([...first, ...rest]);

    const old = new Map(recordsOf(original, before).map((record) => [record.name, record]));
    for (const record of recordsOf(result, after)) {
      const { name, local } = record;
      if (name.length === 1) expect(local).toContain(`contents of ${name}`);
      if (!old.has(name)) continue;
      // Whose offset is in a ZIP64 field has it at the end of that, and of the record.
      const withoutOffset = ({ central }: { central: string }) => (name === 'd.txt' ? central.slice(0, -8) : central);
      const expected = { ...old.get(name), central: withoutOffset(old.get(name) ?? record) };
      expect({ ...record, central: withoutOffset(record) }).toEqual(expected);
    }
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
    const between = await edited(original, { behind: { 'b.txt': item('N'), 'e/': item('M') } });
    for (const back of [await edited(once, { remove: ADDED_NAMES }), await edited(between, { remove: ['N', 'M'] })])
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

it('Python reads the same contents as we do from every changed archive', async () => {
  const changed = SURROUNDINGS.flatMap(([, about]) => CHANGES.map(([, change]) => edited(zip(about), change)));
  const filled = EMPTY.map((about) => edited(buildZip({ entries: [], ...about }), { add: ADDED }));
  const results = await Promise.all([...changed, ...filled]);
  const readings = await readByPython(await Promise.all(results.map(saved)));
  for (const [index, { entries }] of readings.entries()) {
    const found = new Map(entries.map(({ name, sha256 }) => [name, sha256]));
    expect(found).toEqual(await ownDigests(results[index] ?? Buffer.alloc(0)));
  }
});

describe('a ZIP64 field that holds the offset', () => {
  it.each([[['offset']], [['compressedSize', 'offset']], [['size', 'compressedSize', 'offset']]] as const)(
    'is changed where it is, with what else is there: %s',
    async (central) => {
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
    },
  );

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
