import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ByteSource, memorySource } from '../../../src/bytes/byte-source.ts';
import { fileSource } from '../../../src/bytes/file-source.ts';
import { patchedSource } from '../../../src/bytes/patched-source.ts';
import type { Edit, Patch } from '../../../src/bytes/pieces.ts';
import { folderForAll, forAll } from '../../support/set-up.ts';
import { applyPatch } from '../formats/support/apply-patch.ts';
import { seededRandom } from '../zip/support/random.ts';

const SIZE = 3 * 1024 * 1024 + 17;
const bytes = Buffer.alloc(SIZE);
for (let index = 0; index < SIZE; index += 1) bytes[index] = index ^ (index >>> 9);
const folder = folderForAll();
await writeFile(join(folder, 'file'), bytes);
const handle = await forAll(open(join(folder, 'file')));

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const copies: Uint8Array[] = [];
  for await (const chunk of chunks) copies.push(Uint8Array.from(chunk));
  return Buffer.concat(copies);
}

const SOURCES: Readonly<Record<string, () => ByteSource>> = {
  memory: () => memorySource(bytes),
  'a file': () => fileSource(handle, SIZE),
  edits: () =>
    patchedSource(memorySource(bytes.subarray(1000)), [{ offset: 0, remove: 0, insert: [bytes.subarray(0, 1000)] }]),
};

describe.each(Object.entries(SOURCES))('a ByteSource over %s', (_, make) => {
  it('streams every byte, whole or in part', async () => {
    const source = make();
    expect(await collect(source.stream())).toEqual(bytes);
    expect(await collect(source.stream(5, SIZE - 3))).toEqual(bytes.subarray(5, SIZE - 3));
    expect(await collect(source.stream(SIZE - 5, SIZE + 100))).toEqual(bytes.subarray(SIZE - 5));
    expect(await collect(source.stream(SIZE))).toHaveLength(0);
    expect(await collect(source.stream(10, 5))).toHaveLength(0);
  });

  it('reads exactly what is requested, with a buffer or without, and never past the end', async () => {
    const source = make();
    for (const scratch of [undefined, ...[0, 3, 8, 9, 4096].map((length) => Buffer.alloc(length, 0xaa))]) {
      expect(Buffer.from(await source.read(996, 8, scratch))).toEqual(bytes.subarray(996, 1004));
    }
    expect(Buffer.from(await source.read(SIZE - 4, 4))).toEqual(bytes.subarray(SIZE - 4));
    await expect(source.read(SIZE - 4, 5)).rejects.toMatchObject({ code: 'read-past-end' });
    await expect(source.read(-1, 1)).rejects.toMatchObject({ code: 'read-past-end' });
  });
});

it('a read ahead that fails waits for its reader, however long that takes', async () => {
  const path = join(folder, 'shrinking');
  await writeFile(path, bytes);
  await using shrinking = await open(path);
  const chunks = fileSource(shrinking, SIZE).stream()[Symbol.asyncIterator]();
  await writeFile(path, bytes.subarray(0, 1024 * 1024));
  await chunks.next();
  // Long enough for the second read to fail with no one waiting: an unhandled rejection would end the test run.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await expect(chunks.next()).rejects.toMatchObject({ code: 'file-shrunk' });
});

/** Edits of a few bytes, among them bytes of the file that move. */
function editsFrom(seed: number, size: number): Patch {
  const edits: Edit[] = [];
  const random = seededRandom(seed);
  for (let offset = random(20); offset + 10 < size; offset += 10 + random(60)) {
    const start = random(size - 10);
    const moved = { start, end: start + random(10) };
    edits.push({ offset, remove: random(10), insert: [Buffer.from(`<${seed}>`), moved] });
  }
  return edits;
}

it.each([1, 2, 3, 4, 5, 6, 7, 8])('edits of a file that was edited are edits of the original (%s)', async (seed) => {
  const original = Buffer.from('0123456789'.repeat(30));
  const patch = editsFrom(seed, original.length);
  const expected = applyPatch(original, patch);
  const source = patchedSource(memorySource(original), patch);
  expect(source.size).toBe(expected.length);
  for (let start = 0; start < expected.length; start += 7) {
    const end = Math.min(expected.length, start + seed * 9);
    expect(Buffer.from(await source.read(start, end - start))).toEqual(expected.subarray(start, end));
    expect(await collect(source.stream(start, end))).toEqual(expected.subarray(start, end));
  }
  const second = editsFrom(seed + 100, source.size);
  expect(applyPatch(original, source.compose(second))).toEqual(applyPatch(expected, second));
});
