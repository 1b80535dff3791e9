import { expect, it } from 'vitest';
import { msi } from '../../../../src/formats/msi/index.ts';
import { filesIn as readFiles } from '../../../support/containers/contents.ts';
import { cabOf, cabSet, makeCab } from '../../../support/containers/make-cab.ts';
import { makeMsi, msiOf } from '../../../support/containers/make-msi.ts';
import { openBytes } from '../support/sign-bytes.ts';

async function filesIn(bytes: Uint8Array, others: Readonly<Record<string, Uint8Array>> = {}) {
  const { contents = expect.unreachable() } = await openBytes(msi, bytes);
  return readFiles((neighbour) => contents.entries(neighbour), others);
}

it('lists files by the names that they are installed with, and libraries of custom actions', async () => {
  const cabinet = cabOf({ F0: Buffer.from('zero'), F1: Buffer.from('one'), other: Buffer.from('x') }, true);
  const bytes = msiOf(['APP~1.EXE|Application.exe', 'b.dll'], cabinet, {
    'Binary.actions.dll': Buffer.from('actions'),
  });
  expect(await filesIn(bytes)).toEqual({
    'Binary.actions.dll': 'actions',
    'Application.exe (F0)': 'zero',
    'b.dll (F1)': 'one',
    other: 'x',
  });
});

const [first, second] = cabSet('F0', Buffer.from('spanning'), ['1.cab', '2.cab']);
const EXTERNAL = makeMsi({
  tables: {
    File: [{ File: 'F0', FileName: 'a.exe' }],
    Media: [
      { DiskId: 1, Cabinet: '1.cab' },
      { DiskId: 2, Cabinet: '2.cab' },
      { DiskId: 3, Cabinet: '' },
    ],
  },
});

it('reads cabinets next to the installer', async () => {
  expect(await filesIn(EXTERNAL, { '1.cab': first, '2.cab': second })).toEqual({ 'a.exe (F0)': 'spanning' });
  expect(await filesIn(EXTERNAL)).toEqual({ '1.cab': 'cabinet-missing', '2.cab': 'cabinet-missing' });
});

it('has no files if it has no tables', async () => {
  expect(await filesIn(makeMsi({ tables: {} }))).toEqual({});
});

const WIDE_ROW = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`c${index}`, 1]));

it.each([
  ['a table that ends within a row', { damaged: { File: Buffer.alloc(3) } }],
  ['texts that are cut off', { damaged: { _StringData: Buffer.alloc(9) } }],
  ['too many columns', { tables: { File: [WIDE_ROW] } }],
  ['too many rows', { version: 4, damaged: { File: Buffer.alloc(8_000_004) } }],
  ['a table that is too large', { version: 4, damaged: { _StringPool: Buffer.alloc(64 * 1024 * 1024 + 1) } }],
  ['a damaged cabinet', { streams: { c: Buffer.from('MSCF') } }],
] as const)('rejects %s', async (_what, shape) => {
  const tables = { File: [{ File: 'F0', FileName: 'a' }], Media: [{ Cabinet: '#c' }] };
  const bytes = makeMsi({ tables, streams: { c: makeCab({ folders: [], files: [] }) }, ...shape });
  await expect(filesIn(bytes)).rejects.toMatchObject({ code: 'file-malformed' });
});
