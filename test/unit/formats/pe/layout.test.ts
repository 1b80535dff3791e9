/** Holds what is read from a PE's headers, what is rejected there, and the edits that put a CMS into it. */

import { describe, expect, it } from 'vitest';
import { type ByteSource, memorySource } from '../../../../src/bytes/byte-source.ts';
import { embedCms } from '../../../../src/formats/pe/embed.ts';
import { readLayout } from '../../../../src/formats/pe/layout.ts';
import { readFixture } from '../support/fixtures.ts';

const GIB = 2 ** 30;
const hello = readFixture('pe/hello.exe');

describe('the layout of a PE file', () => {
  it('takes a table whose directory Size leaves the padding out', async () => {
    const bytes = Buffer.from(readFixture('pe/junk-certificate.exe'));
    const { tableEntryOffset, table } = await readLayout(memorySource(bytes));
    bytes.writeUInt32LE((table?.size ?? 0) - 5, tableEntryOffset + 4);
    bytes.fill(0, bytes.length - 5);
    expect((await readLayout(memorySource(bytes))).table?.size).toBe(19);
    bytes[bytes.length - 1] = 1;
    await expect(readLayout(memorySource(bytes))).rejects.toMatchObject({ code: 'certificate-table-not-last' });
  });

  it('takes e_lfanew as unsigned, and files of up to 4 GiB', async () => {
    const size = 4 * GIB - 2 ** 21;
    const start = Buffer.from(hello.subarray(0, 64));
    start.writeUInt32LE(3 * GIB, 60);
    const layout = await readLayout(sparse(size, start, [3 * GIB, hello.subarray(0x80, 0x200)]));
    expect(layout.checksumOffset).toBe(3 * GIB + 24 + 64);
    expect(layout.programEnd).toBe(size);
  });

  it('rejects a file that a signature would make longer than 4 GiB', async () => {
    for (const size of [4 * GIB - 4096, 4 * GIB, 5 * GIB]) {
      const source = sparse(size, hello.subarray(0, 0x200));
      await expect(readLayout(source)).rejects.toMatchObject({ code: 'file-too-large' });
    }
  });
});

it('rejects a signature that takes the file past 4 GiB', async () => {
  const layout = await readLayout(memorySource(hello));
  const large = { ...layout, programEnd: 2 ** 32 - 2048, fileSize: 2 ** 32 - 2048 };
  expect(() => embedCms(large, 0, Buffer.alloc(4096))).toThrow(expect.objectContaining({ code: 'file-too-large' }));
});

/** A source of zeros except for its start and another piece: large files without a disk. */
function sparse(size: number, start: Buffer, [at, piece]: [number, Buffer] = [size, Buffer.of()]): ByteSource {
  return {
    size,
    async read(offset, length) {
      const bytes = Buffer.alloc(length);
      if (offset < at) start.copy(bytes, 0, offset);
      else piece.copy(bytes, 0, offset - at);
      return bytes;
    },
    async *stream() {},
  };
}
