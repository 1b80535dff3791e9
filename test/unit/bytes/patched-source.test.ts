/** Bytes after edits that are not written: read, streamed, and edited again. */

import { expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { patchedSource } from '../../../src/bytes/patched-source.ts';
import type { Edit, Patch } from '../../../src/bytes/pieces.ts';
import { applyPatch } from '../formats/support/apply-patch.ts';

const original = Buffer.from('0123456789'.repeat(30));

/** The same each time: edits of a few bytes, among them bytes of the file that move. */
function editsFrom(seed: number, size: number): Patch {
  const edits: Edit[] = [];
  let state = seed;
  const next = (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % limit;
  };
  for (let offset = next(20); offset + 10 < size; offset += 10 + next(60)) {
    const start = next(size - 10);
    const moved = { start, end: start + next(10) };
    edits.push({ offset, remove: next(10), insert: [Buffer.from(`<${seed}>`), moved] });
  }
  return edits;
}

async function streamed(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

it.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'gives the bytes of the result, and edits of it as edits of the original (%s)',
  async (seed) => {
    const patch = editsFrom(seed, original.length);
    const expected = applyPatch(original, patch);
    const source = patchedSource(memorySource(original), patch);
    expect(source.size).toBe(expected.length);
    expect(await streamed(source.stream())).toEqual(expected);
    for (let start = 0; start < expected.length; start += 7) {
      const end = Math.min(expected.length, start + seed * 9);
      expect(Buffer.from(await source.read(start, end - start))).toEqual(expected.subarray(start, end));
      expect(await streamed(source.stream(start, end))).toEqual(expected.subarray(start, end));
    }
    const second = editsFrom(seed + 100, source.size);
    expect(applyPatch(original, source.compose(second))).toEqual(applyPatch(expected, second));
  },
);

it('does not read past the end', async () => {
  const source = patchedSource(memorySource(original), [{ offset: 10, remove: 0, insert: [Buffer.from('more')] }]);
  await expect(source.read(300, 5)).rejects.toMatchObject({ code: 'read-past-end' });
});
