/** Progress of reading a source: how far each pass over it has come. */

import { expect, it } from 'vitest';
import { type ByteSource, memorySource, watchedSource } from '../../../src/bytes/byte-source.ts';

function watched(source: ByteSource) {
  const told: number[] = [];
  return { told, source: watchedSource(source, (bytes, size) => told.push(Math.round((bytes / size) * 100))) };
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const chunk of chunks) copies.push(Buffer.from(chunk));
  return Buffer.concat(copies);
}

it('gives the same bytes, and counts each pass again', async () => {
  const bytes = Buffer.from('0123456789');
  const { told, source } = watched(memorySource(bytes));
  expect(source.size).toBe(10);
  expect(Buffer.from(await source.read(5, 4)).toString()).toBe('5678');
  expect(told).toEqual([40]);
  expect((await readAll(source.stream(4))).toString()).toBe('456789');
  expect(told).toEqual([40, 100]);
  expect(await readAll(source.stream())).toEqual(bytes);
  expect(await readAll(source.stream(0, 3))).toHaveLength(3);
  expect(told.slice(2)).toEqual([100, 30]);
});

it('does not count what could not be read, and ends the reading that its reader ends', async () => {
  let isEnded = false;
  const inner: ByteSource = {
    ...memorySource(Buffer.alloc(10)),
    async *stream() {
      try {
        yield Buffer.alloc(5);
        yield Buffer.alloc(5);
      } finally {
        isEnded = true;
      }
    },
  };
  const { told, source } = watched(inner);
  await expect(source.read(8, 5)).rejects.toMatchObject({ code: 'read-past-end' });
  for await (const _chunk of source.stream()) break;
  expect(isEnded).toBe(true);
  expect(told).toEqual([]);
});
