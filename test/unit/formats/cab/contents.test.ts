import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { cabinetFiles } from '../../../../src/formats/cabinet-contents.ts';
import { filesIn as readFiles } from '../../../support/containers/contents.ts';
import { blocksOf, cabOf, cabSet, makeCab } from '../../../support/containers/make-cab.ts';
import { folderForAll } from '../../../support/set-up.ts';

const folder = folderForAll();

const filesIn = (bytes: Uint8Array, others?: Readonly<Record<string, Uint8Array>>) =>
  readFiles((neighbour) => cabinetFiles(memorySource(bytes), neighbour), others);

const FILES = { 'a/empty': Buffer.alloc(0), 'b.bin': randomBytes(70_001), 'ä.txt': Buffer.alloc(40_000, 'text') };

it.each([
  ['stored', false],
  ['compressed with MSZIP', true],
])('reads files that are %s, as cabextract does', async (_what, isCompressed) => {
  const bytes = cabOf(FILES, isCompressed);
  await writeFile(`${folder}/a.cab`, bytes);
  execFileSync('cabextract', ['-t', `${folder}/a.cab`]);
  expect(Object.values(await filesIn(bytes))).toEqual(Object.values(FILES).map((each) => each.toString('latin1')));
});

it('reads names in UTF-8 if they are marked as such', async () => {
  const files = [0x80, 0].map((attributes) => ({ name: 'ä\\b', size: 0, attributes }));
  expect(Object.keys(await filesIn(makeCab({ folders: [{ blocks: [] }], files })))).toEqual(['ä/b', 'Ã¤/b']);
});

it('reads files in the order of their data, and files that share data', async () => {
  const [one, two] = [randomBytes(40_000), randomBytes(10)];
  const files = [
    { name: 'two', size: 10, offset: 40_000 },
    { name: 'one', size: 40_000 },
    { name: 'copy', size: 40_000 },
  ];
  const bytes = makeCab({ folders: [{ blocks: blocksOf(Buffer.concat([one, two]), false) }], files });
  expect(Object.entries(await filesIn(bytes))).toEqual([
    ['one', one.toString('latin1')],
    ['copy', one.toString('latin1')],
    ['two', two.toString('latin1')],
  ]);
});

describe('a set of cabinets', () => {
  const [first, second] = cabSet('spanning', Buffer.from('spanning'), ['1.cab', '2.cab']);

  it('lists each file once, under the cabinet in which it begins', async () => {
    expect(await filesIn(first, { '2.cab': second })).toEqual({ spanning: 'spanning' });
    expect(await filesIn(second, { '1.cab': first })).toEqual({});
  });

  it('is not complete without its other cabinets', async () => {
    expect(await filesIn(first)).toEqual({ spanning: 'cabinet-missing' });
    await expect(filesIn(second)).rejects.toMatchObject({ code: 'cabinet-missing' });
  });

  it('does not continue in a cabinet that does not belong to it', async () => {
    expect(await filesIn(first, { '2.cab': first })).toMatchObject({ spanning: 'file-malformed' });
    const other = makeCab({ folders: [], files: [] });
    await expect(filesIn(second, { '1.cab': other })).rejects.toMatchObject({ code: 'file-malformed' });
  });

  it('ends if its cabinets continue without end', async () => {
    const cabinets = Array.from({ length: 300 }, (_, number) =>
      makeCab({
        folders: [{ blocks: [{ data: Buffer.from('x'), size: 0 }] }],
        files: [{ name: 'a', size: 1, folder: number === 0 ? 0xfffe : 0xffff }],
        ...(number > 0 && { previous: `${number - 1}` }),
        ...{ next: `${number + 1}`, number },
      }),
    );
    expect(await filesIn(cabinets[0] ?? first, cabinets as never)).toEqual({ a: 'file-malformed' });
  });
});

const FILE = { name: 'a', size: 10 };
const BLOCK = { data: Buffer.alloc(10), size: 10 };
const TWO = { data: Buffer.from('CK\x03\x00'), size: 10 };
const ONE_FOLDER = makeCab({ folders: [{ blocks: [BLOCK] }], files: [FILE] });
const inFolder = (method: number, ...blocks: (typeof BLOCK)[]) =>
  makeCab({ folders: [{ method, blocks }], files: [FILE] });
const flipped = Buffer.from(ONE_FOLDER);
flipped[flipped.length - 1] = 1;

it.each([
  ['a wrong checksum', flipped],
  ['data that is cut off', ONE_FOLDER.subarray(0, -1)],
  ['too little data', inFolder(0)],
  ['a block that is too long', inFolder(0, { data: Buffer.alloc(40_000), size: 10 })],
  ['a block that unpacks to too much', inFolder(0, { data: Buffer.alloc(10), size: 40_000 })],
  ['a stored block of another length', inFolder(0, { data: Buffer.alloc(9), size: 10 })],
  ['a block without a size in the middle', inFolder(0, { ...BLOCK, size: 0 }, BLOCK)],
  ['no CK', inFolder(1, BLOCK)],
  ['damaged deflate data', inFolder(1, { data: Buffer.from('CK\xff\xff', 'latin1'), size: 10 })],
  ['fewer bytes than the block says', inFolder(1, TWO)],
  ['Quantum', inFolder(2, BLOCK), 'container-unsupported'],
])('does not unpack a file with %s', async (_what, bytes, code = 'file-malformed') => {
  expect(await filesIn(bytes)).toEqual({ a: code });
});

const withBytes = (at: number, ...bytes: number[]) =>
  Buffer.concat([ONE_FOLDER.subarray(0, at), Buffer.from(bytes), ONE_FOLDER.subarray(at + bytes.length)]);

it.each([
  ['no header', ONE_FOLDER.subarray(0, 30)],
  ['another signature', withBytes(0, 0)],
  ['folders that are cut off', ONE_FOLDER.subarray(0, 40)],
  ['files that are cut off', ONE_FOLDER.subarray(0, 50)],
  ['a file without a name', withBytes(60, 0)],
  ['a file in a folder that does not exist', withBytes(52, 1)],
  ['a neighbour whose name does not end', withBytes(30, 1).subarray(0, 40)],
])('rejects a cabinet with %s', async (_what, bytes) => {
  await expect(filesIn(bytes)).rejects.toMatchObject({ code: 'file-malformed' });
});

it('ends if folders share data again and again', async () => {
  const count = 1600;
  const block = blocksOf(Buffer.alloc(32_768 * 2), true);
  const bytes = makeCab({
    folders: Array.from({ length: count }, (_, index) => ({ method: 1, blocks: index === 0 ? block : [] })),
    files: Array.from({ length: count }, (_, folder) => ({ name: `${folder}`, size: 1, offset: 65_535, folder })),
  });
  for (let folder = 1; folder < count; folder += 1) bytes.copy(bytes, 36 + folder * 8, 36, 44);
  expect(Object.values(await filesIn(bytes))).toContain('contents-too-large');
});
