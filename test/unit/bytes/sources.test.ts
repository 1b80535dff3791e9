import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ByteSource, memorySource } from '../../../src/bytes/byte-source.ts';
import { Cursor } from '../../../src/bytes/cursor.ts';
import { fileSource } from '../../../src/bytes/file-source.ts';
import { folderForAll } from '../../support/set-up.ts';

const SIZE = 3 * 1024 * 1024 + 17;
const bytes = Buffer.from(Uint8Array.from({ length: SIZE }, (_, index) => (index ^ (index >>> 9)) & 0xff));
const folder = folderForAll();
beforeAll(async () => {
  await writeFile(join(folder, 'file'), bytes);
});

async function withSource<T>(kind: string, work: (source: ByteSource) => Promise<T>): Promise<T> {
  if (kind === 'memory') return work(memorySource(bytes));
  await using handle = await open(join(folder, 'file'));
  return await work(fileSource(handle, SIZE));
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const copies: Uint8Array[] = [];
  for await (const chunk of chunks) copies.push(Uint8Array.from(chunk));
  return Buffer.concat(copies);
}

describe.each(['memory', 'file'])('a ByteSource over %s', (kind) => {
  it('streams every byte, whole or in part', async () => {
    await withSource(kind, async (source) => {
      expect((await collect(source.stream())).equals(bytes)).toBe(true);
      expect((await collect(source.stream(5, SIZE - 3))).equals(bytes.subarray(5, SIZE - 3))).toBe(true);
      expect((await collect(source.stream(SIZE))).length).toBe(0);
      expect((await collect(source.stream(SIZE - 5, SIZE + 100))).equals(bytes.subarray(SIZE - 5))).toBe(true);
      expect((await collect(source.stream(10, 5))).length).toBe(0);
    });
  });

  it('reads exactly what is requested, and never past the end', async () => {
    await withSource(kind, async (source) => {
      expect(Buffer.compare(await source.read(SIZE - 4, 4), bytes.subarray(SIZE - 4))).toBe(0);
      await expect(source.read(SIZE - 4, 5)).rejects.toMatchObject({ code: 'read-past-end' });
      await expect(source.read(-1, 1)).rejects.toMatchObject({ code: 'read-past-end' });
    });
  });

  it('reads the same with and without a given buffer, long enough or not', async () => {
    await withSource(kind, async (source) => {
      for (const length of [0, 3, 8, 9, 4096]) {
        const found = await source.read(1000, 8, Buffer.alloc(length, 0xaa));
        expect(Buffer.from(found).equals(bytes.subarray(1000, 1008))).toBe(true);
      }
    });
  });
});

it('a file is not read again for bytes next to those that were read, and each reader has its own bytes', async () => {
  const handle = await open(join(folder, 'file'));
  let reads = 0;
  const counted = new Proxy(handle, {
    get(target, name) {
      if (name === 'read') reads += 1;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const source = fileSource(counted, SIZE);
  const places = [60, 128, 4000, 0, 148];
  for (const at of places) (await source.read(at, 20)).fill(0);
  expect(reads).toBe(1);
  for (const at of [...places, 4090, 8185, SIZE - 20]) {
    const found = await Promise.all([source.read(at, 20), source.read(at + 1, 3)]);
    expect(Buffer.from(found[0]).equals(bytes.subarray(at, at + 20))).toBe(true);
    expect(Buffer.from(found[1]).equals(bytes.subarray(at + 1, at + 4))).toBe(true);
  }
  await handle.close();
});

it('a read ahead that fails waits for its reader, however long that takes', async () => {
  const path = join(folder, 'shrinking');
  await writeFile(path, bytes);
  const handle = await open(path);
  const chunks = fileSource(handle, SIZE).stream()[Symbol.asyncIterator]();
  await writeFile(path, bytes.subarray(0, 1024 * 1024));
  await chunks.next();
  // Long enough for the second read to fail with no one waiting: an unhandled rejection would end the test run.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await expect(chunks.next()).rejects.toMatchObject({ code: 'file-shrunk' });
  await handle.close();
});

describe('Cursor', () => {
  it('reads little-endian fields in order and knows its offset in the file', () => {
    const cursor = new Cursor(Uint8Array.of(1, 2, 0, 4, 0, 0, 0, 9, 9), 1000);
    expect([cursor.u8('a'), cursor.u16('b'), cursor.u32('c'), cursor.offset]).toEqual([1, 2, 4, 1007]);
    expect(cursor.bytes(2, 'd')).toEqual(Uint8Array.of(9, 9));
  });

  it('names field and offset when the bytes run out', () => {
    const cursor = new Cursor(Uint8Array.of(1), 1000);
    expect(() => cursor.u32('Signature')).toThrowError(/Signature.*4 bytes.*1000/);
    expect(() => cursor.seek(2000, 'table')).toThrowError(expect.objectContaining({ code: 'read-past-end' }));
  });
});
